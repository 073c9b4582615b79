//go:build unix

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each case leaves the disk as a crash after one step would, by running the steps one by one.
func TestRestartRecognizesWhereACrashCame(t *testing.T) {
	root := func(t *testing.T, w *Workspace) *os.Root {
		r, err := w.owner(local, true)
		ok(t, err)
		t.Cleanup(func() { r.Close() })
		return r
	}
	half := func(t *testing.T, w *Workspace, name, s string) {
		root(t, w)
		ok(t, os.WriteFile(filepath.Join(w.root.Name(), local, name), []byte(s), 0o600))
	}
	rec := receipt{digest, int64(len(content))}
	for _, c := range []struct {
		name  string
		crash func(t *testing.T, w *Workspace)
		state State
	}{
		{"before anything", func(*testing.T, *Workspace) {}, StateNone},
		{"after the folders", func(t *testing.T, w *Workspace) { root(t, w) }, StateNone},
		{"after the first byte", func(t *testing.T, w *Workspace) { half(t, w, bytesName(id), content[:1]) }, StateIncomplete},
		{"after creating the file", func(t *testing.T, w *Workspace) { half(t, w, bytesName(id), "") }, StateIncomplete},
		{"after the bytes", func(t *testing.T, w *Workspace) {
			_, err := w.writeBytes(root(t, w), id, 100, strings.NewReader(content))
			ok(t, err)
		}, StateIncomplete},
		{"after creating the receipt", func(t *testing.T, w *Workspace) {
			half(t, w, bytesName(id), content)
			half(t, w, receiptName(id), "")
		}, StateIncomplete},
		{"in the receipt's size", func(t *testing.T, w *Workspace) {
			half(t, w, bytesName(id), content)
			half(t, w, receiptName(id), rec.String()[:66])
		}, StateIncomplete},
		{"before the receipt's last byte", func(t *testing.T, w *Workspace) {
			half(t, w, bytesName(id), content)
			half(t, w, receiptName(id), strings.TrimSuffix(rec.String(), "\n"))
		}, StateIncomplete},
		{"torn receipt alone", func(t *testing.T, w *Workspace) { half(t, w, receiptName(id), "\x00\x00") }, StateIncomplete},
		{"after Stage", func(t *testing.T, w *Workspace) { stage(t, w, id, content) }, StateComplete},
		{"after the rename", func(t *testing.T, w *Workspace) {
			stage(t, w, id, content)
			ok(t, w.moveBytes(root(t, w), id, rec, true))
		}, StatePromoted},
		{"after Promote", func(t *testing.T, w *Workspace) { put(t, w) }, StatePromoted},
		{"after another operation's identical bytes, before the second copy went", func(t *testing.T, w *Workspace) {
			stage(t, w, "op_other", content)
			ok(t, w.Promote(local, "op_other", digest))
			stage(t, w, id, content)
		}, StateComplete},
		{"after Forget", func(t *testing.T, w *Workspace) { put(t, w); ok(t, w.Forget(local, id)) }, StateNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, dir := open(t)
			c.crash(t, w)
			again, err := Open(filepath.Dir(dir))
			ok(t, err)
			defer again.Close()
			found, err := again.Find(local, id)
			if err != nil || found.State != c.state {
				t.Fatalf("found %+v, %v, want %s", found, err, c.state)
			}
			whole := c.state == StateComplete || c.state == StatePromoted
			if whole && (found.SHA256 != digest || found.Size != int64(len(content))) || !whole && found.SHA256 != "" {
				t.Fatalf("found %+v", found)
			}
			switch c.state {
			case StateIncomplete:
				want(t, again.Forget(local, id), conflictCode)
				if err := again.Promote(local, id, digest); err == nil {
					t.Fatal("incomplete bytes were promoted")
				}
				ok(t, again.RemoveStaging(local, id))
				state(t, again, id, StateNone)
				stage(t, again, id, content)
			case StateNone:
				ok(t, again.RemoveStaging(local, id))
				stage(t, again, id, content)
			case StateComplete:
				want(t, again.RemoveStaging(local, id), conflictCode)
			case StatePromoted:
				ok(t, again.RemoveStaging(local, id))
			}
			ok(t, again.Promote(local, id, digest))
			ok(t, again.Verify(local, digest, int64(len(content))))
			ok(t, again.Forget(local, id))
		})
	}
}

// A sync that fails anywhere is an error, and what it leaves can be told apart and finished.
func TestFailedSyncIsNeverSuccess(t *testing.T) {
	broken := errors.New("input/output error")
	for failing := 1; ; failing++ {
		w, dir := open(t)
		calls := 0
		w.syncFile = func(f *os.File) error {
			if calls++; calls == failing {
				return broken
			}
			return f.Sync()
		}
		sum, _, err := w.Stage(local, id, 100, strings.NewReader(content))
		if err == nil {
			err = w.Promote(local, id, sum)
		}
		if err == nil {
			err = w.Forget(local, id)
		}
		if calls < failing {
			ok(t, err)
			if failing < 8 {
				t.Fatalf("only %d syncs", calls)
			}
			break
		}
		if !errors.Is(err, broken) {
			t.Fatalf("sync %d failed: %v", failing, err)
		}
		found, err := w.Find(local, id)
		ok(t, err)
		switch found.State {
		case StateIncomplete:
			ok(t, w.RemoveStaging(local, id))
			fallthrough
		case StateNone:
			if _, err := os.Lstat(filepath.Join(dir, digest)); err == nil { // Forget had come: all is done
				break
			}
			stage(t, w, id, content)
			fallthrough
		case StateComplete, StatePromoted:
			ok(t, w.Promote(local, id, digest))
		}
		ok(t, w.Verify(local, digest, int64(len(content))))
	}
}

func FuzzReceipt(f *testing.F) {
	f.Add(receipt{digest, 19}.String())
	f.Add(digest + " 019\n")
	f.Add(digest + " -1\n")
	f.Fuzz(func(t *testing.T, s string) {
		if r, whole := parseReceipt(s); whole && (r.String() != s || r.size < 0 || len(s) > maxReceipt) {
			t.Fatalf("%q is taken for %+v", s, r)
		}
	})
}
