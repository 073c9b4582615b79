package daemon

import (
	"fmt"
	"testing"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/kernel/board"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/policies"
)

// BenchmarkResearch is a whole two-slot operation with the built-in model through the API, on warm
// workers: admission to adopted dossier. Its parts are taken from the operation's own history.
func BenchmarkResearch(b *testing.B) {
	m := newMachines(b, policies.Default())(b)
	e := newEffects(0)
	p := m.boot(e)
	defer p.kill(b)
	in := p.input(b, "", 1000)
	run := func(key string) string {
		id := p.admit(b, key, in)
		if op, _ := p.wait(b, e, id); op.State != writv1.OperationState_OPERATION_STATE_COMPLETE {
			b.Fatalf("%s %s", op.State, op.Detail)
		}
		return id
	}
	run("warm up")
	parts := make(map[string]time.Duration)
	commits := p.store.Stats().Commits
	b.ResetTimer()
	for i := range b.N {
		addParts(b, p, run(fmt.Sprint(i)), parts)
	}
	b.ReportMetric(float64(p.store.Stats().Commits-commits)/float64(b.N), "commits/op")
	for part, total := range parts {
		b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), part+"-ms/op")
	}
}

// addParts adds up the time between the events that end each phase.
func addParts(b *testing.B, p *process, op string, parts map[string]time.Duration) {
	b.Helper()
	var last, slot1 int64
	step := func(part string, at int64) {
		parts[part] += time.Duration(at-last) * time.Microsecond
		last = at
	}
	err := p.store.View(b.Context(), func(r store.Reader) error {
		return board.Events(r, op, 0, func(e *storev1.Event) error {
			switch {
			case last == 0:
				last = e.AtUs
			case e.Slot == 0 && e.Kind == "pause" && slot1 == 0:
				slot1 = e.AtUs
				step("create", e.AtUs)
			case e.Slot == 0 && e.Kind == "funded":
				step("prepare", e.AtUs)
			case e.Slot == 2 && e.Kind == "succeed":
				step("synthesize", e.AtUs)
			case e.Slot == 0 && e.Kind == "succeed":
				step("assemble", e.AtUs)
			}
			return nil
		})
	})
	if err != nil {
		b.Fatal(err)
	}
}
