package wasm

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/canon"
	abi "github.com/writ-kernel/writ/abi/wasm"
)

// BenchmarkNormalize64K compares one fresh instance per call with the same rules as plain native Go,
// in one run: through a worker process, inside this process (which production never does), and native.
func BenchmarkNormalize64K(b *testing.B) {
	line := []byte("Every sentence that comes out is bound to the exact bytes it rests on — §4.\n")
	raw := bytes.Repeat(line, 64<<10/len(line)+1)[:64<<10-1]
	raw = raw[:bytes.LastIndexByte(raw, '\n')+1]
	m := textModule(b)
	b.Run("worker", func(b *testing.B) {
		p := newPool(b, Config{Workers: 1})
		if _, err := Normalize(b.Context(), p, m, raw, Limits{}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			if _, err := Normalize(b.Context(), p, m, raw, Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("in-process", func(b *testing.B) {
		e, err := newEngine(filepath.Join(scratch, "cache"))
		if err != nil {
			b.Fatal(err)
		}
		defer e.runtime.Close(context.Background())
		if err := e.load(m.SHA256, m.Bytes); err != nil {
			b.Fatal(err)
		}
		limits := Limits{Wall: time.Second}.withDefaults(len(raw))
		header, err := requestHeader(m.Manifest.Kind, Request{Op: abi.OpNormalize, MediaType: abi.MediaAny, Body: raw}, limits)
		if err != nil {
			b.Fatal(err)
		}
		frame := append(header, raw...)
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			answer, c := e.call(callMeta{m.SHA256, limits.MemoryBytes, limits.OutputBytes, limits.LogBytes}, frame)
			if answer.Fault != "" || answer.Run != 0 || len(c.output) < len(raw) {
				b.Fatal(answer)
			}
		}
	})
	b.Run("native", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			if text, lines := nativeNormalize(raw); len(text) != len(raw) || lines == 0 {
				b.Fatal(lines)
			}
		}
	})
}

// nativeNormalize is what a Go program would do for a text without CR: validate, look for controls,
// count lines, copy.
func nativeNormalize(raw []byte) ([]byte, int) {
	if !utf8.Valid(raw) {
		return nil, 0
	}
	for _, c := range raw {
		if c < 0x20 && c != '\n' && c != '\t' && c != '\f' {
			return nil, 0
		}
	}
	return bytes.Clone(raw), abi.Lines(raw)
}

// BenchmarkCompile is what the first call of a process pays without and with compiled code on disk.
func BenchmarkCompile(b *testing.B) {
	m := textModule(b)
	for name, dir := range map[string]string{"cold": "", "cached": filepath.Join(scratch, "cache")} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				e, err := newEngine(dir)
				if err != nil {
					b.Fatal(err)
				}
				if err := e.load(canon.Digest(m.Bytes), m.Bytes); err != nil {
					b.Fatal(err)
				}
				e.runtime.Close(context.Background())
			}
		})
	}
}
