package badger

import (
	db "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/writ-kernel/writ/kernel/store"
)

// limits keep every batch within what Badger takes as one transaction at these options: 15 % of a
// memtable, 12 bytes of overhead a row included. They also keep every value below the 1 MiB from
// which Badger would move it to the value log.
var limits = store.Limits{Bytes: 1<<20 - 1, Writes: 8192}

// pinned are the options of every store. None of them is left to a setting: they decide whether
// acknowledged means durable, and how much memory an idle daemon holds.
func pinned(dir string) db.Options {
	o := db.DefaultOptions(dir)

	// An answer means that the write-ahead log was synced.
	o.SyncWrites = true
	o.DetectConflicts = true
	o.NumVersionsToKeep = 1

	// Open has verified all tables by then; checking them as Badger opens them would only crash it.
	o.ChecksumVerificationMode = options.OnBlockRead
	o.VerifyValueChecksum = true

	// Badger's defaults reserve 64 MiB for each of five memtables and 256 MiB for blocks.
	o.MemTableSize = 8 << 20
	o.NumMemtables = 2
	o.BlockCacheSize = 8 << 20
	o.IndexCacheSize = 8 << 20
	o.ValueLogFileSize = 64 << 20
	o.ValueThreshold = 1 << 20
	o.NumCompactors = 2
	// Rows are small and hashed or random in good part; it also keeps the caches honest.
	o.Compression = options.None

	o.Logger = nil
	o.MetricsEnabled = false
	return o
}
