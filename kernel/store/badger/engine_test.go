package badger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	db "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"go.uber.org/goleak"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/kernel/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBadgerConforms(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() store.Engine {
		dir := filepath.Join(t.TempDir(), "store")
		return func() store.Engine { return open(t, dir) }
	})
}

func open(t testing.TB, dir string) store.Engine {
	t.Helper()
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func start(t testing.TB, dir string) *store.Committer {
	t.Helper()
	s, err := store.Open(open(t, dir), storetest.NewClock())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestOptionsAreDurableVerifiedAndSmall(t *testing.T) {
	e := open(t, t.TempDir()).(*engine)
	defer e.Close()
	o := e.db.Opts()
	for name, ok := range map[string]bool{
		"SyncWrites":          o.SyncWrites,
		"DetectConflicts":     o.DetectConflicts,
		"VerifyValueChecksum": o.VerifyValueChecksum,
		"block checksums":     o.ChecksumVerificationMode == options.OnBlockRead,
		"one version":         o.NumVersionsToKeep == 1,
		"no lock bypass":      !o.BypassLockGuard,
		"on disk":             !o.InMemory && !o.ReadOnly,
		"memtable size":       o.MemTableSize == 8<<20,
		"memtables":           o.NumMemtables == 2,
		"block cache":         o.BlockCacheSize == 8<<20,
		"index cache":         o.IndexCacheSize == 8<<20,
		"value log file":      o.ValueLogFileSize == 64<<20,
		"value threshold":     o.ValueThreshold > int64(limits.Bytes),
		"no compression":      o.Compression == options.None,
		"quiet":               o.Logger == nil,
	} {
		if !ok {
			t.Errorf("%s is not as pinned", name)
		}
	}
}

func TestLimitsFitOneTransaction(t *testing.T) {
	e := open(t, t.TempDir()).(*engine)
	defer e.Close()
	// Badger refuses what reaches these, counting 12 bytes a row and one row of its own.
	if got, most := int64(limits.Writes)+1, e.db.MaxBatchCount(); got >= most {
		t.Errorf("%d rows, Badger takes fewer than %d", got, most)
	}
	perRow := int64(len("w") + 12)
	if got, most := int64(limits.Bytes)+perRow*int64(limits.Writes+1), e.db.MaxBatchSize(); got >= most {
		t.Errorf("%d bytes, Badger takes fewer than %d", got, most)
	}
}

func TestFullBatchesCommitAndLeaveTheValueLogEmpty(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	for name, shape := range map[string]struct{ rows, key, value int }{
		"one value":  {1, 1, limits.Bytes - 1},
		"many rows":  {limits.Writes, 8, limits.Bytes/limits.Writes - 8},
		"long keys":  {limits.Bytes / (store.MaxKey + 1), store.MaxKey, 1},
		"empty rows": {limits.Writes, 8, 0},
	} {
		var writes []store.Write
		for i := range shape.rows {
			w := store.Write{Key: fmt.Appendf(nil, "%0*d", shape.key, i)}
			if shape.value > 0 {
				w.Value = bytes.Repeat([]byte("v"), shape.value)
			}
			writes = append(writes, w)
		}
		b, err := e.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(writes); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	const header = 20
	logs, _ := filepath.Glob(filepath.Join(dir, "*.vlog"))
	for _, log := range logs {
		if info, err := os.Stat(log); err != nil || info.Size() > header {
			t.Errorf("%s holds %d bytes (%v)", filepath.Base(log), info.Size(), err)
		}
	}
}

func TestACommitInBetweenIsAConflict(t *testing.T) {
	e := open(t, t.TempDir())
	defer e.Close()
	begin := func() store.Batch {
		b, err := e.Begin()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first, second := begin(), begin()
	// The second one scanned a range that the first inserts into: Badger by itself lets that pass.
	err := second.Scan([]byte("p/"), []byte("p0"), func(_, _ []byte) error { return nil })
	if err := errors.Join(err, first.Commit([]store.Write{{Key: []byte("p/1"), Value: []byte("x")}})); err != nil {
		t.Fatal(err)
	}
	if err := second.Commit([]store.Write{{Key: []byte("q"), Value: []byte("x")}}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("error is %v, want a conflict", err)
	}
	third := begin()
	if err := third.Commit([]store.Write{{Key: []byte("q"), Value: []byte("x")}}); err != nil {
		t.Error(err)
	}
}

func TestAHeldDirectoryNamesItsHolder(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	lock := filepath.Join(dir, "LOCK")
	before, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err = Open(dir)
		e, ok := reason.As(err)
		if !ok || e.Code != writv1.Reason_REASON_STORE_HELD || e.Detail != "store is held by pid "+strconv.Itoa(os.Getpid()) {
			t.Errorf("error is %v", err)
		}
	}
	// The same when the lock is taken only after the tables were verified.
	if _, err := db.Open(pinned(dir)); !reason.Is(openError(dir, err), writv1.Reason_REASON_STORE_HELD) {
		t.Errorf("error is %v", err)
	}
	if after, err := os.ReadFile(lock); err != nil || !bytes.Equal(before, after) {
		t.Errorf("lock note became %q, %v", after, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	start(t, dir)
}

func TestANoteOfADeadProcessHoldsNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "LOCK"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, dir)
}

func TestWhatWasAnsweredIsInTheFilesAlready(t *testing.T) {
	dir, image := t.TempDir(), t.TempDir()
	s := start(t, dir)
	set := func(key string) {
		err := s.Update(context.Background(), func(tx store.Tx) error {
			return errors.Join(tx.Set([]byte(key+"/a"), []byte("x")), tx.Set([]byte(key+"/b"), []byte("x")))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		set(strconv.Itoa(i))
	}
	// What a killed process leaves is what the files hold at that moment.
	copyFiles(t, dir, image)
	rows := map[string]bool{}
	err := start(t, image).View(context.Background(), func(r store.Reader) error {
		return r.Scan(nil, nil, func(k, _ []byte) error { rows[string(k)] = true; return nil })
	})
	if err != nil || len(rows) != 40 {
		t.Errorf("%d rows, want 40 (%v)", len(rows), err)
	}
}

func TestATornLogLosesWholeTransactionsFromItsEndOnly(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	for i := range 20 {
		err := s.Update(context.Background(), func(tx store.Tx) error {
			return errors.Join(tx.Set(fmt.Append(nil, i, "/a"), []byte("x")), tx.Set(fmt.Append(nil, i, "/b"), []byte("x")))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	log, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	end := len(bytes.TrimRight(log, "\x00"))
	last := 20
	for cut := end; cut > end-300; cut -= 37 {
		image := t.TempDir()
		copyFiles(t, dir, image)
		torn := append(bytes.Clone(log[:cut]), make([]byte, len(log)-cut)...)
		if err := os.WriteFile(filepath.Join(image, filepath.Base(logs[0])), torn, 0o600); err != nil {
			t.Fatal(err)
		}
		have := 0
		s := start(t, image)
		err := s.View(context.Background(), func(r store.Reader) error {
			for i := range 20 {
				a, err := r.Get(fmt.Append(nil, i, "/a"))
				b, err2 := r.Get(fmt.Append(nil, i, "/b"))
				if err := errors.Join(err, err2); err != nil {
					return err
				}
				if (a == nil) != (b == nil) {
					t.Errorf("half of transaction %d", i)
				}
				if a != nil {
					if have != i {
						t.Errorf("transaction %d without %d", i, have)
					}
					have++
				}
			}
			return nil
		})
		if err != nil || have > last {
			t.Errorf("%d transactions after more was cut from %d (%v)", have, last, err)
		}
		last = have
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADamagedTableRefusesToOpen(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	for i := range 100 {
		err := s.Update(context.Background(), func(tx store.Tx) error {
			return tx.Set(fmt.Append(nil, "key", i), bytes.Repeat([]byte("value"), 40))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tables, _ := filepath.Glob(filepath.Join(dir, "*.sst"))
	if len(tables) != 1 {
		t.Fatalf("%d tables", len(tables))
	}
	table, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	// The last bytes hold lengths that Badger ends the process over before anything can be checked.
	for at := 0; at < len(table)-4; at += 997 {
		broken := bytes.Clone(table)
		broken[at] ^= 1
		if err := os.WriteFile(tables[0], broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if e, err := Open(dir); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d of %d: error is %v", at, len(table), err)
			if err == nil {
				_ = e.Close()
			}
		}
	}
	if err := os.WriteFile(tables[0], table, 0o600); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(dir, "MANIFEST")
	if err := os.Rename(manifest, manifest+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrDamaged) {
		t.Errorf("without a manifest the error is %v", err)
	}
	if err := os.Rename(manifest+".away", manifest); err != nil {
		t.Fatal(err)
	}
	start(t, dir)
}

func TestNewLogsAreNoticedOnce(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir).(*engine)
	defer e.Close()
	first := e.names.next
	for i := range 10 {
		b, err := e.Begin()
		if err != nil {
			t.Fatal(err)
		}
		value := bytes.Repeat([]byte{byte(i)}, limits.Bytes-10)
		if err := b.Commit([]store.Write{{Key: fmt.Append(nil, i), Value: value}}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(dir, fmt.Sprintf("%05d.mem", e.names.next))); err == nil {
			t.Error("a log was not noticed")
		}
	}
	if e.names.next == first {
		t.Error("no log was rotated, the test is too small")
	}
}

func TestACommitWhoseNamesCannotBeSyncedIsUnknown(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir).(*engine)
	defer e.Close()
	b, err := e.Begin()
	if err != nil {
		t.Fatal(err)
	}
	e.names.dir = "\x00"
	err = b.Commit([]store.Write{{Key: []byte("a"), Value: []byte("x")}})
	if err == nil || errors.Is(err, store.ErrConflict) {
		t.Errorf("error is %v", err)
	}
	if err := e.View(func(store.Reader) error { return nil }); !errors.Is(err, store.ErrCommitUnknown) {
		t.Errorf("a snapshot after an unknown commit: %v", err)
	}
	if _, err := e.Begin(); !errors.Is(err, store.ErrCommitUnknown) {
		t.Errorf("a batch after an unknown commit: %v", err)
	}
}

func TestAClosedEngineSaysSo(t *testing.T) {
	e := open(t, t.TempDir())
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Begin(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("error is %v", err)
	}
	if err := e.View(func(store.Reader) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("error is %v", err)
	}
}

func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		in, err := os.Open(filepath.Join(from, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(filepath.Join(to, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(out, in)
		if err := errors.Join(err, in.Close(), out.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
