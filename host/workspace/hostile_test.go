//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// intruders replace the file at path by something that must not be read as it.
var intruders = map[string]func(t *testing.T, path string){
	"link to the same bytes inside": func(t *testing.T, path string) {
		ok(t, os.Rename(path, path+"x"))
		ok(t, os.Symlink(filepath.Base(path)+"x", path))
	},
	"link to the same bytes outside": func(t *testing.T, path string) {
		outside := filepath.Join(t.TempDir(), "outside")
		ok(t, os.WriteFile(outside, []byte(content), 0o600))
		ok(t, os.Remove(path))
		ok(t, os.Symlink(outside, path))
	},
	"dangling link": func(t *testing.T, path string) {
		ok(t, os.Remove(path))
		ok(t, os.Symlink("nowhere", path))
	},
	"link to itself": func(t *testing.T, path string) {
		ok(t, os.Remove(path))
		ok(t, os.Symlink(filepath.Base(path), path))
	},
	"named pipe": func(t *testing.T, path string) {
		ok(t, os.Remove(path))
		ok(t, syscall.Mkfifo(path, 0o600))
	},
	"directory": func(t *testing.T, path string) {
		ok(t, os.Remove(path))
		ok(t, os.Mkdir(path, 0o700))
		ok(t, os.WriteFile(filepath.Join(path, "inner"), nil, 0o600))
	},
	"hard link": func(t *testing.T, path string) { ok(t, os.Link(path, filepath.Join(t.TempDir(), "second"))) },
	"readable by the group": func(t *testing.T, path string) {
		ok(t, os.Chmod(path, 0o640))
	},
	"set-uid": func(t *testing.T, path string) { ok(t, os.Chmod(path, 0o600|os.ModeSetuid)) },
	"no mode": func(t *testing.T, path string) { ok(t, os.Chmod(path, 0)) },
	"truncated": func(t *testing.T, path string) {
		ok(t, os.Truncate(path, int64(len(content))-1))
	},
	"emptied": func(t *testing.T, path string) { ok(t, os.Truncate(path, 0)) },
	"one byte too long": func(t *testing.T, path string) {
		ok(t, os.WriteFile(path, []byte(content+"x"), 0o600))
	},
	"grown huge": func(t *testing.T, path string) { ok(t, os.Truncate(path, 1<<40)) },
	"one byte changed": func(t *testing.T, path string) {
		ok(t, os.WriteFile(path, []byte("B"+content[1:]), 0o600))
	},
}

func TestIntruderUnderADigestIsFoundAndMovedAside(t *testing.T) {
	for name, replace := range intruders {
		t.Run(name, func(t *testing.T) {
			w, dir := open(t)
			put(t, w)
			replace(t, filepath.Join(dir, digest))
			want(t, w.Verify(local, digest, int64(len(content))), mismatchCode)
			b, err := w.Read(local, digest, 1000)
			if b != nil || err == nil {
				t.Fatalf("read %q, %v", b, err)
			}
			if name != "grown huge" && name != "one byte too long" {
				want(t, err, mismatchCode)
			}
			_, err = w.Find(local, id)
			want(t, err, mismatchCode)
			before, err := os.Lstat(filepath.Join(dir, digest))
			ok(t, err)
			moved, err := w.Quarantine(local, digest, "mismatch")
			ok(t, err)
			if len(moved) != 1 || moved[0] != "local/quarantine/"+digest+".mismatch.1" {
				t.Fatal(moved)
			}
			after, err := os.Lstat(filepath.Join(filepath.Dir(dir), moved[0]))
			ok(t, err)
			if !os.SameFile(before, after) || before.Mode() != after.Mode() {
				t.Error("not moved as it was")
			}
			want(t, w.Verify(local, digest, int64(len(content))), notFound)
			_, err = w.Find(local, id) // the receipt speaks of bytes that are gone
			want(t, err, mismatchCode)
			want(t, w.Promote(local, id, digest), mismatchCode)
		})
	}
}

func TestIntruderUnderADigestBlocksPromotionOnceAndKeepsTheStagedBytes(t *testing.T) {
	for name, replace := range intruders {
		t.Run(name, func(t *testing.T) {
			w, dir := open(t)
			put(t, w)
			replace(t, filepath.Join(dir, digest))
			const second = "op_0123456789abcdef.2.response"
			stage(t, w, second, content)
			want(t, w.Promote(local, second, digest), mismatchCode)
			state(t, w, second, StateComplete)
			ok(t, w.Promote(local, second, digest))
			ok(t, w.Verify(local, digest, int64(len(content))))
		})
	}
}

func TestIntruderInStagingIsFoundAndNotAdopted(t *testing.T) {
	for name, replace := range intruders {
		for _, file := range []string{bytesName(id), receiptName(id)} {
			t.Run(name+" "+filepath.Ext(file), func(t *testing.T) {
				w, dir := open(t)
				stage(t, w, id, content)
				path := filepath.Join(dir, file)
				replace(t, path)
				intruder, err := os.Lstat(path)
				ok(t, err)
				if err := w.Promote(local, id, digest); err == nil {
					t.Fatal("promoted")
				}
				want(t, w.Verify(local, digest, int64(len(content))), notFound)
				_, err = w.Quarantine(local, id, "mismatch")
				if err != nil {
					want(t, err, notFound) // Promote has moved it already
				}
				found := false
				entries, err := os.ReadDir(filepath.Join(dir, quarantineDir))
				ok(t, err)
				for _, e := range entries {
					info, err := e.Info()
					ok(t, err)
					found = found || os.SameFile(info, intruder)
				}
				if !found {
					t.Error("the intruder is not in quarantine")
				}
				state(t, w, id, StateNone)
				put(t, w)
			})
		}
	}
}

func TestLinkInThePlaceOfAFolderIsRefused(t *testing.T) {
	for name, sub := range map[string]string{"owner": ".", "staging": stagingDir, "quarantine": quarantineDir} {
		for target, outside := range map[string]bool{"inside": false, "outside": true} {
			t.Run(name+" to "+target, func(t *testing.T) {
				w, dir := open(t)
				put(t, w)
				_, err := w.Quarantine(local, digest, "test")
				ok(t, err)
				ok(t, w.RemoveStaging(local, "op_none"))
				real := filepath.Join(filepath.Dir(dir), "real")
				if outside {
					real = filepath.Join(t.TempDir(), "real")
				}
				place := filepath.Join(dir, sub)
				ok(t, os.Rename(place, real))
				ok(t, os.Symlink(real, place))
				if !outside {
					ok(t, os.Remove(place))
					rel, err := filepath.Rel(filepath.Dir(place), real)
					ok(t, err)
					ok(t, os.Symlink(rel, place))
				}
				before := len(tree(t, real))
				_, _, err = w.Stage(local, "op_new", 10, strings.NewReader("x"))
				want(t, err, mismatchCode)
				want(t, w.Verify(local, digest, int64(len(content))), mismatchCode)
				want(t, w.Promote(local, id, digest), mismatchCode)
				_, err = w.Find(local, id)
				want(t, err, mismatchCode)
				want(t, w.RemoveStaging(local, id), mismatchCode)
				_, err = w.Quarantine(local, id, "test")
				want(t, err, mismatchCode)
				if after := len(tree(t, real)); after != before {
					t.Errorf("something was written through the link: %d entries became %d", before, after)
				}
			})
		}
	}
}

func TestQuarantineNeverOverwrites(t *testing.T) {
	w, dir := open(t)
	for i := range 3 {
		stage(t, w, id, content+strings.Repeat("x", i))
		moved, err := w.Quarantine(local, id, "test")
		ok(t, err)
		if len(moved) != 2 {
			t.Fatal(moved)
		}
	}
	if names := files(t, dir); len(names) != 6 {
		t.Errorf("%q", names)
	}
	_, err := w.Quarantine(local, id, "test")
	want(t, err, notFound)
}
