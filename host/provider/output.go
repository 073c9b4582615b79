package provider

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
)

// maxHandshake bounds the first line of standard output; a certificate takes about 1 KiB of it.
const maxHandshake = 8 << 10

// firstLine takes everything an adapter writes to standard output and keeps the first line.
type firstLine struct {
	mu    sync.Mutex
	line  []byte
	done  bool
	ready chan struct{} // closed when line is final
}

func newFirstLine() *firstLine { return &firstLine{ready: make(chan struct{})} }

// Write never fails and never waits, so that an adapter that floods its output only warms itself.
func (f *firstLine) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return len(p), nil
	}
	head, _, complete := bytes.Cut(p, []byte("\n"))
	f.line = append(f.line, head[:min(len(head), maxHandshake-len(f.line))]...)
	if complete || len(f.line) == maxHandshake {
		f.finish()
	}
	return len(p), nil
}

func (f *firstLine) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.finish()
}

func (f *firstLine) finish() {
	if !f.done {
		f.done = true
		close(f.ready)
	}
}

func (f *firstLine) Read(p []byte) (int, error) {
	<-f.ready
	n := copy(p, f.line) // final, so only its one reader touches it now
	f.line = f.line[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// untilDone is an empty reader that ends when ctx does.
type untilDone struct{ ctx context.Context }

func (u untilDone) Read([]byte) (int, error) {
	<-u.ctx.Done()
	return 0, io.EOF
}

// Bounds of what one process may put into the log.
const (
	maxLogLine  = 1 << 10
	maxLogTotal = 64 << 10
)

// diagnostics logs an adapter's standard error line by line: escaped, each line cut at maxLogLine,
// and nothing more after maxLogTotal bytes.
type diagnostics struct {
	log *slog.Logger

	mu   sync.Mutex
	line []byte
	left int
	cut  bool // the rest of the current line is dropped
}

func newDiagnostics(log *slog.Logger) *diagnostics { return &diagnostics{log: log, left: maxLogTotal} }

// Write never fails and never waits for the adapter's sake.
func (d *diagnostics) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for rest := p; len(rest) > 0 && d.left > 0; {
		head, tail, complete := bytes.Cut(rest, []byte("\n"))
		room := min(maxLogLine-len(d.line), d.left)
		d.cut = d.cut || len(head) > room
		head = head[:min(len(head), room)]
		d.line = append(d.line, head...)
		d.left -= len(head)
		if complete || d.left == 0 {
			d.flush()
		}
		rest = tail
	}
	return len(p), nil
}

func (d *diagnostics) flush() {
	d.left = max(d.left-1, 0) // empty lines count too
	if len(d.line) > 0 {
		d.log.Info("adapter diagnostics", "line", strconv.QuoteToASCII(string(d.line)), "cut", d.cut)
	}
	if d.left == 0 {
		d.log.Warn("adapter diagnostics over their bound, the rest is dropped", "bound", maxLogTotal)
	}
	d.line, d.cut = d.line[:0], false
}
