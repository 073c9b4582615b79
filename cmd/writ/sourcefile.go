package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/evidence"
)

// maxSourceName is the longest display name that the API takes, in bytes.
const maxSourceName = 255

// sourceFile is a source's bytes as they were read once.
type sourceFile struct {
	spec    sourceSpec
	content []byte
	lines   []string // of the normalized text, with their ends
}

// readSource reads one regular file of at most limit bytes. It follows no symbolic link in the last
// place, and waits for no pipe or device.
func readSource(spec sourceSpec, limit int) (*sourceFile, error) {
	refuse := func(code reason.Code, format string, args ...any) error {
		return reason.Field(code, spec.field, "%s: %s", spec.text, fmt.Sprintf(format, args...))
	}
	if len(spec.path) > maxSourceName || strings.ContainsFunc(spec.path, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, refuse(writv1.Reason_REASON_INVALID_INPUT, "the name must have at most %d bytes and no control character", maxSourceName)
	}
	if !utf8.ValidString(spec.path) {
		return nil, refuse(writv1.Reason_REASON_INVALID_UTF8, "the name is not valid UTF-8")
	}
	file, err := os.OpenFile(spec.path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse(writv1.Reason_REASON_NOT_FOUND, "there is no such file")
	case errors.Is(err, unix.ELOOP):
		return nil, refuse(writv1.Reason_REASON_INVALID_INPUT, "is a symbolic link; name the file itself")
	case err != nil:
		return nil, refuse(writv1.Reason_REASON_INVALID_INPUT, "cannot be read: %v", pathCause(err))
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, refuse(writv1.Reason_REASON_INVALID_INPUT, "cannot be read: %v", pathCause(err))
	case info.IsDir():
		return nil, refuse(writv1.Reason_REASON_INVALID_INPUT, "is a directory")
	case !info.Mode().IsRegular():
		return nil, refuse(writv1.Reason_REASON_INVALID_INPUT, "is not a regular file")
	}
	content, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, refuse(writv1.Reason_REASON_INVALID_INPUT, "cannot be read: %v", pathCause(err))
	}
	if len(content) > limit {
		return nil, refuse(writv1.Reason_REASON_TOO_LARGE, "has more than %d bytes", limit)
	}
	if err := evidence.CheckText(content); err != nil {
		return nil, refuse(reason.CodeOf(err), "%s", refusal(err).Detail)
	}
	return &sourceFile{spec: spec, content: content, lines: textLines(content)}, nil
}

// textLines are the lines that text.v1 gives. They are counted here only to refuse a range before
// anything is opened or sent; what counts is the normalizer's own answer.
func textLines(content []byte) []string {
	text := strings.TrimPrefix(string(content), "\ufeff")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// resolve fixes the line range and refuses one that the text does not have.
func (f *sourceFile) resolve() error {
	count := uint32(len(f.lines))
	if count == 0 {
		return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, f.spec.field, "%s: the file is empty", f.spec.text)
	}
	if f.spec.from == 0 {
		f.spec.from, f.spec.to = 1, count
	}
	if f.spec.to > count {
		return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, f.spec.field, "%s: the file has %d lines", f.spec.text, count)
	}
	return nil
}

// quoted is the size of the approved lines in bytes.
func (f *sourceFile) quoted() int {
	size := 0
	for _, line := range f.lines[f.spec.from-1 : f.spec.to] {
		size += len(line)
	}
	return size
}

// fitting is the last line up to which the range would stay within room, or 0.
func (f *sourceFile) fitting(room int) uint32 {
	last := uint32(0)
	for i := f.spec.from; i <= f.spec.to; i++ {
		if room -= len(f.lines[i-1]); room < 0 {
			break
		}
		last = i
	}
	return last
}

func pathCause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
