package badger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	db "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/ristretto/v2/z"
)

// ErrDamaged means that files of the store do not hold what was written to them. Nothing was
// changed; the store has to be restored from a backup.
var ErrDamaged = errors.New("badger: store is damaged")

// verify checks every block of every table before Badger opens them. Badger checks blocks too, but
// then reads a damaged one as absent rows, and compaction would write that down for good: a lost
// contact marker would mean a second contact. The price is one sequential read of the store.
//
// It holds the directory's lock meanwhile, the one that Badger takes, because the tables of a
// running process come and go.
func verify(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close() // releases the lock
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return errHeld(dir)
		}
		return err
	}
	manifest, err := os.Open(filepath.Join(dir, db.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) {
		return noTables(d)
	}
	if err != nil {
		return err
	}
	defer manifest.Close()
	listed, _, err := db.ReplayManifestFile(manifest, 0, pinned(dir))
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, db.ManifestFilename, err)
	}
	for id := range listed.Tables {
		if err := verifyTable(table.NewFilename(id, dir)); err != nil {
			return err
		}
	}
	return nil
}

// noTables refuses tables without a manifest: Badger would take them for leftovers and delete them.
func noTables(d *os.File) error {
	names, err := d.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if filepath.Ext(name) == ".sst" {
			return fmt.Errorf("%w: %s is missing, but there are tables", ErrDamaged, db.ManifestFilename)
		}
	}
	return nil
}

func verifyTable(path string) (err error) {
	defer func() {
		// Badger's check trips over some kinds of damage instead of reporting them.
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
		if err != nil {
			err = fmt.Errorf("%w: %s: %w", ErrDamaged, filepath.Base(path), err)
		}
	}()
	file, err := z.OpenMmapFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	// OpenTable closes the file when it fails, and verifies because of the mode.
	t, err := table.OpenTable(file, table.Options{ReadOnly: true, ChkMode: options.OnTableRead, Compression: options.None})
	if err != nil {
		return err
	}
	// Not DecrRef, which deletes the file of the last reference.
	return t.Close(-1)
}
