package research

import (
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// Research holds the transitions of the capability.
type Research struct {
	jobs   *operation.Jobs
	guard  *guard.Guard
	ledger *ledger.Ledger
}

// New makes the capability's transitions over shared jobs, guard and ledger.
func New(jobs *operation.Jobs, g *guard.Guard, l *ledger.Ledger) *Research {
	return &Research{jobs: jobs, guard: g, ledger: l}
}

// Definition is what the capability hands to the shared job rules.
func Definition() operation.Capability {
	return operation.Capability{ParentKind: ParentKind, ChildKind: ChildKind, Parent: ParentTable, Moved: moved}
}

// Created is the parent's immutable checkpoint of what it created.
type Created struct {
	AttemptID string        `json:"attempt_id"`
	Fence     uint64        `json:"fence"`
	Slots     []CreatedSlot `json:"slots"`
}

// CreatedSlot is one child as it was created.
type CreatedSlot struct {
	Slot       int    `json:"slot"`
	JobID      string `json:"job_id"`
	Subset     int64  `json:"subset"`
	DeadlineUS int64  `json:"deadline_us"`
}

const checkpointCreated = "research.created"

// Create makes the fixed children and lets the parent wait for them without a lease, in one
// transaction. The children's deadline leaves the parent its reserve for assembly.
func (c *Research) Create(tx store.Tx, t guard.Tenure) error {
	s, err := c.guard.Authority(tx, guard.Checkpoint, t)
	if err != nil {
		return err
	}
	admitted, err := DecodeAdmitted(s.Op)
	if err != nil {
		return err
	}
	if err := operation.RecordLineage(tx, s.Job); err != nil {
		return err
	}
	created := Created{AttemptID: s.Job.Lineage.AttemptId, Fence: s.Job.Lineage.Fence}
	deadline := childDeadline(s.Job, admitted, tx.Now())
	for _, slot := range admitted.Slots {
		child := &storev1.Job{
			Slot: uint32(slot.Slot), Kind: ChildKind, Phase: PhasePrepare, DeadlineUs: deadline, Sources: bindings(slot.Sources),
		}
		if err := operation.CreateChild(tx, s.Job, child); err != nil {
			return err
		}
		created.Slots = append(created.Slots, CreatedSlot{Slot: slot.Slot, JobID: child.Id, Subset: slot.Subset, DeadlineUS: deadline})
	}
	if err := operation.Checkpoint(tx, s.Job, checkpointCreated, created); err != nil {
		return err
	}
	return c.jobs.Pause(tx, s.Job, writv1.Reason_REASON_RESEARCH_WAIT_SOURCES, PhaseFund)
}

func childDeadline(parent *storev1.Job, admitted Admitted, now int64) int64 {
	reserve := time.Duration(admitted.Governing.Research.AssemblyReserveSeconds) * time.Second
	own := time.Duration(admitted.ChildSeconds) * time.Second
	return min(now+own.Microseconds(), parent.DeadlineUs-reserve.Microseconds())
}

// moved decides what a child's pause or end means for the others, in the same transaction.
func moved(tx store.Tx, jobs *operation.Jobs, op string) error {
	s, err := guard.Load(tx, record.JobID(op, 0))
	if err != nil || s.Job.State != operation.Paused || s.Op.CancelRequested {
		return err
	}
	parent := s.Job
	children, err := operation.Children(tx, op)
	if err != nil {
		return err
	}
	if parent.Reason == writv1.Reason_REASON_RESEARCH_WAIT_SOURCES {
		return prepared(tx, jobs, parent, children)
	}
	return synthesized(tx, jobs, parent, children)
}

// prepared wakes the parent for funding once every slot is prompt-ready. If one ended unprepared,
// nothing is funded: the others end too and the parent assembles what there is.
func prepared(tx store.Tx, jobs *operation.Jobs, parent *storev1.Job, children []*storev1.Job) error {
	var ready []*storev1.Job
	var ended int
	for _, child := range children {
		switch {
		case operation.Ended(child.State):
			ended++
		case child.State == operation.Paused && child.Reason == writv1.Reason_REASON_RESEARCH_PROMPT_READY:
			ready = append(ready, child)
		}
	}
	switch {
	case len(ready)+ended < len(children):
		return nil
	case ended == 0:
		return jobs.Resumable(tx, parent, PhaseFund)
	case len(ready) == 0:
		return jobs.Resumable(tx, parent, PhaseAssemble)
	}
	// Ending this one comes back here for the next.
	return jobs.Block(tx, ready[0], reason.New(writv1.Reason_REASON_CHILD_UNPREPARED, "another slot was not prepared, so nothing was funded or contacted"))
}

// synthesized wakes the parent for assembly once every child has ended, and lets one funded child at a
// time go on: a research route has width one.
func synthesized(tx store.Tx, jobs *operation.Jobs, parent *storev1.Job, children []*storev1.Job) error {
	for _, child := range children {
		if !operation.Ended(child.State) {
			return jobs.Resumable(tx, child, PhaseSynthesize) // changes nothing if it is on its way already
		}
	}
	return jobs.Resumable(tx, parent, PhaseAssemble)
}
