package daemon

import (
	"testing"

	"github.com/writ-kernel/writ/policies"
)

// maxCommits is what host/README.md documents. Fewer happen when the two slots share a commit.
const maxCommits = 22

func TestATwoSlotOperationTakesNoMoreDurableCommitsThanDocumented(t *testing.T) {
	m := newMachines(t, policies.Default())(t)
	e := newEffects(0)
	p := m.boot(e)
	defer p.kill(t)
	in := p.input(t, "", 1000)
	before := p.store.Stats().Commits
	p.wait(t, e, p.admit(t, "key", in))
	if got := p.store.Stats().Commits - before; got > maxCommits {
		t.Fatalf("%d durable commits, at most %d are documented", got, maxCommits)
	}
}
