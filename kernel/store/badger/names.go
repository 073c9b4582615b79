package badger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// names makes the directory entries of new write-ahead logs durable. Badger syncs what it writes to
// a log, but not the directory that a new log's name is in; POSIX lets a crash lose the file then,
// whatever was synced to it.
type names struct {
	dir  string
	next int // number of the log that Badger makes next
}

// sync has to run after a commit was written and before it is acknowledged.
func (n *names) sync() error {
	fresh := false
	for {
		_, err := os.Lstat(filepath.Join(n.dir, fmt.Sprintf("%05d.mem", n.next)))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		fresh = true
		n.next++
	}
	if !fresh {
		return nil
	}
	d, err := os.Open(n.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// start finds where Badger's numbering stands and syncs the directory as it is.
func (n *names) start() error {
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		return err
	}
	n.next = -1
	for _, entry := range entries {
		if number, ok := strings.CutSuffix(entry.Name(), ".mem"); ok {
			if at, err := strconv.Atoi(number); err == nil {
				n.next = max(n.next, at)
			}
		}
	}
	if n.next < 0 {
		return errors.New("badger: no write-ahead log in the directory")
	}
	return n.sync()
}
