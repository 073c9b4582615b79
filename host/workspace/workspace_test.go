//go:build unix

package workspace

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	conflictCode = writv1.Reason_REASON_CONFLICT
	mismatchCode = writv1.Reason_REASON_ARTIFACT_MISMATCH
	notFound     = writv1.Reason_REASON_NOT_FOUND
	notOwner     = writv1.Reason_REASON_NOT_OWNER
	invalid      = writv1.Reason_REASON_INVALID_INPUT
	tooLarge     = writv1.Reason_REASON_TOO_LARGE
	internal     = writv1.Reason_REASON_INTERNAL
)

const (
	local   = "local"
	id      = "op_0123456789abcdef.1.response"
	content = "bytes of an output\n"
)

var digest = canon.Digest([]byte(content))

// open returns a workspace and the local owner's folder.
func open(t *testing.T) (*Workspace, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "artifacts")
	w, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w, filepath.Join(dir, local)
}

func stage(t *testing.T, w *Workspace, id, s string) string {
	t.Helper()
	got, size, err := w.Stage(local, id, int64(len(s)), strings.NewReader(s))
	if err != nil || size != int64(len(s)) || got != canon.Digest([]byte(s)) {
		t.Fatalf("staged %s, %d, %v", got, size, err)
	}
	return got
}

// put stages and promotes content.
func put(t *testing.T, w *Workspace) {
	t.Helper()
	stage(t, w, id, content)
	ok(t, w.Promote(local, id, digest))
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, err error, code reason.Code) {
	t.Helper()
	if !reason.Is(err, code) {
		t.Fatalf("got %v, want %s", err, reason.Name(code))
	}
}

func state(t *testing.T, w *Workspace, id string, s State) {
	t.Helper()
	found, err := w.Find(local, id)
	if err != nil || found.State != s {
		t.Fatalf("found %+v, %v, want %s", found, err, s)
	}
}

// tree lists every file below dir with its mode, relative to dir.
func tree(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	out := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		rel, _ := filepath.Rel(dir, path)
		out[rel] = info.Mode()
		return err
	})
	ok(t, err)
	return out
}

func files(t *testing.T, dir string) (names []string) {
	for name, mode := range tree(t, dir) {
		if !mode.IsDir() {
			names = append(names, name)
		}
	}
	return names
}

func TestOutputGoesFromReservationToVerifiedBytes(t *testing.T) {
	w, dir := open(t)
	state(t, w, id, StateNone)
	stage(t, w, id, content)
	found, err := w.Find(local, id)
	if err != nil || found != (Found{StateComplete, digest, int64(len(content))}) {
		t.Fatal(found, err)
	}
	want(t, w.Verify(local, digest, int64(len(content))), notFound)
	ok(t, w.Promote(local, id, digest))
	ok(t, w.Promote(local, id, digest)) // repeated after a crash
	ok(t, w.Verify(local, digest, int64(len(content))))
	want(t, w.Verify(local, digest, int64(len(content))+1), mismatchCode)
	want(t, w.Verify(local, digest, int64(len(content))-1), mismatchCode)
	want(t, w.Verify(local, digest, -1), mismatchCode)
	found, err = w.Find(local, id)
	if err != nil || found != (Found{StatePromoted, digest, int64(len(content))}) {
		t.Fatal(found, err)
	}
	if b, err := w.Read(local, digest, int64(len(content))); err != nil || string(b) != content {
		t.Fatalf("%q, %v", b, err)
	}
	ok(t, w.RemoveStaging(local, id)) // nothing incomplete: nothing to do
	ok(t, w.Forget(local, id))
	state(t, w, id, StateNone)
	ok(t, w.Forget(local, id))
	if p := w.Path(local, digest); p != "local/"+digest {
		t.Error(p)
	}
	for name, mode := range tree(t, filepath.Dir(dir)) {
		if p := mode.Perm(); mode.IsDir() && p != 0o700 || !mode.IsDir() && p != 0o600 {
			t.Errorf("%s has mode %s", name, mode)
		}
	}
	if names := files(t, dir); len(names) != 1 || names[0] != digest {
		t.Errorf("left behind: %q", names)
	}
}

func TestEmptyOutputIsAnOutput(t *testing.T) {
	w, _ := open(t)
	sum, size, err := w.Stage(local, id, 0, strings.NewReader(""))
	ok(t, err)
	ok(t, w.Promote(local, id, sum))
	ok(t, w.Verify(local, sum, size))
	if b, err := w.Read(local, sum, 0); err != nil || len(b) != 0 {
		t.Fatal(b, err)
	}
}

func TestOutputBeyondItsBoundLeavesNothing(t *testing.T) {
	w, dir := open(t)
	for name, r := range map[string]io.Reader{
		"one byte":       strings.NewReader(content),
		"byte by byte":   iotest.OneByteReader(strings.NewReader(content)),
		"end with data":  iotest.DataErrReader(strings.NewReader(content)),
		"without an end": endless{},
		"in two pieces":  io.MultiReader(strings.NewReader(content), strings.NewReader("")),
	} {
		_, _, err := w.Stage(local, id, int64(len(content))-1, r)
		if !reason.Is(err, tooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, err := w.Stage(local, id, -1, strings.NewReader(""))
	want(t, err, invalid)
	if names := files(t, dir); len(names) != 0 {
		t.Errorf("left behind: %q", names)
	}
	state(t, w, id, StateNone)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestReaderThatFailsLeavesNothing(t *testing.T) {
	w, dir := open(t)
	broken := errors.New("cut")
	for _, n := range []int64{100, int64(len(content))} { // before the bound, and exactly at it
		_, _, err := w.Stage(local, id, n, io.MultiReader(strings.NewReader(content), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || !reason.Is(err, internal) {
			t.Fatal(err)
		}
	}
	if names := files(t, dir); len(names) != 0 {
		t.Errorf("left behind: %q", names)
	}
}

func TestNamesThatAreNotPlainAreRefused(t *testing.T) {
	w, dir := open(t)
	put(t, w)
	before := len(tree(t, filepath.Dir(filepath.Dir(dir))))
	for _, owner := range []string{"", ".", "..", "../x", "/x", "a/b", "Local", ".hidden", "a\x00", "é", strings.Repeat("a", 65)} {
		_, _, err := w.Stage(owner, "id", 9, strings.NewReader("x"))
		want(t, err, invalid)
		want(t, w.Verify(owner, digest, 1), invalid)
	}
	for _, bad := range []string{"", ".", "..", "../" + local, "/x", "a/b", ".x", "a\x00", "é", strings.Repeat("a", 129), digest} {
		_, _, err := w.Stage(local, bad, 9, strings.NewReader("x"))
		want(t, err, invalid)
		_, err = w.Find(local, bad)
		want(t, err, invalid)
		want(t, w.Promote(local, bad, digest), invalid)
		want(t, w.RemoveStaging(local, bad), invalid)
		want(t, w.Forget(local, bad), invalid)
		if bad != digest {
			_, err = w.Quarantine(local, bad, "mismatch")
			want(t, err, invalid)
		}
	}
	for _, bad := range []string{"", "staging", "../x", strings.ToUpper(digest), digest + "0", digest[:63] + "/"} {
		want(t, w.Promote(local, id, bad), invalid)
		want(t, w.Verify(local, bad, 1), invalid)
		_, err := w.Read(local, bad, 1)
		want(t, err, invalid)
	}
	for _, why := range []string{"", "../x", "Two Words", "a/b", strings.Repeat("a", 33)} {
		_, err := w.Quarantine(local, digest, why)
		want(t, err, invalid)
	}
	if after := len(tree(t, filepath.Dir(filepath.Dir(dir)))); after != before {
		t.Errorf("%d entries became %d", before, after)
	}
}

func TestSecondStageUnderOneIDConflicts(t *testing.T) {
	w, _ := open(t)
	stage(t, w, id, content)
	_, _, err := w.Stage(local, id, 100, strings.NewReader("other"))
	want(t, err, conflictCode)
	want(t, w.RemoveStaging(local, id), conflictCode)
	want(t, w.Forget(local, id), conflictCode)
	want(t, w.Promote(local, id, canon.Digest([]byte("other"))), mismatchCode)
	state(t, w, id, StateComplete)
	ok(t, w.Promote(local, id, digest))
	_, _, err = w.Stage(local, id, 100, strings.NewReader("other"))
	want(t, err, conflictCode)
}

func TestOwnersShareNothing(t *testing.T) {
	w, dir := open(t)
	put(t, w)
	_, err := w.Read("other", digest, 100)
	want(t, err, notFound)
	if found, err := w.Find("other", id); err != nil || found.State != StateNone {
		t.Fatal(found, err)
	}
	_, err = w.Quarantine("other", digest, "mismatch")
	want(t, err, notFound)
	if _, err := os.Lstat(filepath.Join(filepath.Dir(dir), "other")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("asking made a folder")
	}
}

func TestReadIsBounded(t *testing.T) {
	w, _ := open(t)
	put(t, w)
	_, err := w.Read(local, digest, int64(len(content))-1)
	want(t, err, tooLarge)
	_, err = w.Read(local, digest, -1)
	want(t, err, tooLarge)
	_, err = w.Read(local, canon.Digest([]byte("x")), 10)
	want(t, err, notFound)
}

func TestIdenticalBytesAreStoredOnce(t *testing.T) {
	w, dir := open(t)
	put(t, w)
	first, err := os.Stat(filepath.Join(dir, digest))
	ok(t, err)
	const second = "op_0123456789abcdef.2.response"
	stage(t, w, second, content)
	ok(t, w.Promote(local, second, digest))
	again, err := os.Stat(filepath.Join(dir, digest))
	ok(t, err)
	if !os.SameFile(first, again) {
		t.Error("the file was replaced under its readers")
	}
	state(t, w, id, StatePromoted)
	state(t, w, second, StatePromoted)
	if names := files(t, dir); len(names) != 3 { // the bytes and two receipts
		t.Errorf("%q", names)
	}
}

func TestConcurrentOutputsOfTheSameBytes(t *testing.T) {
	w, dir := open(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			own := id + "." + string(rune('a'+i))
			sum, size, err := w.Stage(local, own, 100, strings.NewReader(content))
			if err == nil {
				err = w.Promote(local, own, sum)
			}
			if err == nil {
				err = w.Verify(local, sum, size)
			}
			if err == nil {
				err = w.Forget(local, own)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if names := files(t, dir); len(names) != 1 || names[0] != digest {
		t.Errorf("%q", names)
	}
}

func TestConcurrentStagesOfOneIDHaveOneWinner(t *testing.T) {
	w, _ := open(t)
	var wg sync.WaitGroup
	var won sync.Map
	for i := range 8 {
		wg.Go(func() {
			b := bytes.Repeat([]byte{byte('a' + i)}, 5000)
			sum, _, err := w.Stage(local, id, 5000, bytes.NewReader(b))
			if err == nil {
				won.Store(sum, true)
			} else if !reason.Is(err, conflictCode) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := 0
	won.Range(func(sum, _ any) bool { n++; ok(t, w.Promote(local, id, sum.(string))); return true })
	if n != 1 {
		t.Errorf("%d winners", n)
	}
}

func TestFolderThatIsNotPrivateIsRefused(t *testing.T) {
	base := t.TempDir()
	make := func(name string, mode fs.FileMode) string {
		p := filepath.Join(base, name)
		ok(t, os.Mkdir(p, mode))
		ok(t, os.Chmod(p, mode))
		return p
	}
	private := make("private", 0o700)
	ok(t, os.Symlink(private, filepath.Join(base, "link")))
	ok(t, os.WriteFile(filepath.Join(base, "file"), nil, 0o600))
	for _, c := range []struct {
		dir  string
		code reason.Code
	}{
		{make("group", 0o750), notOwner}, {make("world", 0o777), notOwner},
		{filepath.Join(base, "link"), mismatchCode}, {filepath.Join(base, "file"), mismatchCode},
		{filepath.Join(base, "missing", "artifacts"), notFound},
	} {
		w, err := Open(c.dir)
		if err == nil {
			w.Close()
		}
		if !reason.Is(err, c.code) {
			t.Errorf("%s: %v", c.dir, err)
		}
	}
	w, err := Open(private)
	ok(t, err)
	ok(t, w.Close())
}

func TestFolderOfAnotherUIDIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can give a folder away")
	}
	w, dir := open(t)
	put(t, w)
	ok(t, os.Chown(filepath.Join(dir, digest), 12345, -1))
	want(t, w.Verify(local, digest, int64(len(content))), mismatchCode)
	ok(t, os.Chown(dir, 12345, -1))
	want(t, w.Verify(local, digest, int64(len(content))), notOwner)
	ok(t, os.Chown(filepath.Dir(dir), 12345, -1))
	_, err := Open(filepath.Dir(dir))
	want(t, err, notOwner)
}

func TestUmaskCannotOpenAFile(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	w, dir := open(t)
	put(t, w)
	for name, mode := range tree(t, filepath.Dir(dir)) {
		if mode.Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", name, mode)
		}
	}
}
