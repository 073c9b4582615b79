package research_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/kernel/store/badger"
	"github.com/writ-kernel/writ/kernel/store/badger/badgertest"
	"github.com/writ-kernel/writ/kernel/store/storetest"
)

var callerCounts = []int{1, 64}

// BenchmarkLedgerCycle is fund, claim with rebind, contact and settle of one call: four durable
// transactions, with jobs that were prepared beforehand.
func BenchmarkLedgerCycle(b *testing.B) {
	for _, callers := range callerCounts {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			w := durableWorld(b)
			parents := make([]*operation.Claimed, b.N)
			for i := range parents {
				parents[i] = w.awaitingFunds(fmt.Sprint(i))
			}
			commits := w.store.Stats().Commits
			b.ResetTimer()
			var next atomic.Int64
			w.parallel(b, callers, func() { w.cycle(parents[next.Add(1)-1]) })
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
			b.ReportMetric(float64(w.store.Stats().Commits-commits)/float64(b.N), "commits/cycle")
		})
	}
}

// BenchmarkRawBadgerCommit is what the engine itself gives: one durable transaction of one row, about
// the size of a reservation.
func BenchmarkRawBadgerCommit(b *testing.B) {
	for _, callers := range callerCounts {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) { badgertest.Commits(b, callers, 400) })
	}
}

// BenchmarkOperation is every transition of a one-slot operation by one caller, without any host work.
func BenchmarkOperation(b *testing.B) {
	w := durableWorld(b)
	commits := w.store.Stats().Commits
	b.ResetTimer()
	for i := range b.N {
		w.cycle(w.awaitingFunds(fmt.Sprint(i)))
	}
	b.ReportMetric(float64(w.store.Stats().Commits-commits)/float64(b.N), "commits/op")
}

func durableWorld(b *testing.B) *world {
	b.Helper()
	engine, err := badger.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	clock := storetest.NewClock()
	s, err := store.Open(engine, clock)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return newWorldOn(b, s, clock)
}

// awaitingFunds brings a one-slot operation to the moment before its group funding.
func (w *world) awaitingFunds(key string) *operation.Claimed {
	w.t.Helper()
	if _, _, err := w.admit(key, w.input(paid, 1)); err != nil {
		w.t.Fatal(err)
	}
	c := w.mustClaim(0, research.PhaseCreate)
	w.do(func(tx store.Tx) error { return w.research.Create(tx, c.Tenure) })
	w.prepare(1)
	return w.mustClaim(0, research.PhaseFund)
}

func (w *world) cycle(parent *operation.Claimed) {
	w.do(func(tx store.Tx) error { return w.research.Fund(tx, parent.Tenure, w.governing(paid)) })
	child := w.claim()
	w.do(func(tx store.Tx) error {
		denied, err := w.research.Contact(tx, child.Tenure, canon.Digest(prompt(1)), w.governing(paid))
		if denied != nil {
			return denied
		}
		return err
	})
	w.respond(child, reported(1))
}

// parallel runs b.N calls of fn on a number of goroutines.
func (w *world) parallel(b *testing.B, callers int, fn func()) {
	var left atomic.Int64
	left.Store(int64(b.N))
	done := make(chan struct{})
	for range callers {
		go func() {
			defer func() { done <- struct{}{} }()
			for left.Add(-1) >= 0 {
				fn()
			}
		}()
	}
	for range callers {
		<-done
	}
}
