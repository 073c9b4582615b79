package badgertest

import (
	"fmt"
	"sync/atomic"
	"testing"

	db "github.com/dgraph-io/badger/v4"
)

// Commits makes b.N durable engine transactions of one row of size bytes each, by a number of callers,
// and reports commits/s.
func Commits(b *testing.B, callers, size int) {
	raw, err := db.Open(db.DefaultOptions(b.TempDir()).WithSyncWrites(true).WithLogger(nil))
	if err != nil {
		b.Fatal(err)
	}
	defer raw.Close()
	value := make([]byte, size)
	var next atomic.Int64
	failed := make(chan error, callers)
	b.ResetTimer()
	for range callers {
		go func() {
			for {
				n := next.Add(1)
				if n > int64(b.N) {
					failed <- nil
					return
				}
				if err := raw.Update(func(tx *db.Txn) error { return tx.Set(fmt.Appendf(nil, "%d", n), value) }); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	for range callers {
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}
