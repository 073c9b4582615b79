package operation

import (
	"time"

	"google.golang.org/protobuf/proto"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/board"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// LeaseTTL is how long a claim or heartbeat keeps a job; a holder renews at a third of it.
const LeaseTTL = 15 * time.Second

// Capability is what one capability adds to the shared job rules.
type Capability struct {
	// ParentKind and ChildKind are internal job kinds, never aliases or wildcards.
	ParentKind, ChildKind string
	// Parent is the child's parent table.
	Parent guard.ParentTable
	// Moved runs in the transaction in which a child paused or ended.
	Moved func(tx store.Tx, jobs *Jobs, operation string) error
}

// Jobs holds the transitions of jobs under a guard and a set of capabilities.
type Jobs struct {
	guard        *guard.Guard
	capabilities map[string]Capability // by child kind
}

// New makes the job transitions and the guard that they share with ledger.
func New(capabilities ...Capability) (*Jobs, *guard.Guard) {
	tables := make(map[string]guard.ParentTable)
	byKind := make(map[string]Capability)
	for _, c := range capabilities {
		tables[c.ChildKind] = c.Parent
		byKind[c.ChildKind] = c
	}
	g := guard.New(tables)
	return &Jobs{guard: g, capabilities: byKind}, g
}

// Job reads one job.
func Job(r store.Reader, id string) (*storev1.Job, error) {
	s, err := guard.Load(r, id)
	if err != nil {
		return nil, err
	}
	return s.Job, nil
}

// Of lists an operation's jobs, the parent first.
func Of(r store.Reader, operation string) ([]*storev1.Job, error) {
	var jobs []*storev1.Job
	err := record.Each(r, record.JobPrefix(operation), func(j *storev1.Job) error {
		jobs = append(jobs, j)
		return nil
	})
	return jobs, err
}

// Children lists an operation's child jobs in slot order.
func Children(r store.Reader, operation string) ([]*storev1.Job, error) {
	jobs, err := Of(r, operation)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	return jobs[1:], nil
}

// create stores a new job and lists it where it belongs.
func create(tx store.Tx, job *storev1.Job, detail string) error {
	if err := put(tx, nil, job); err != nil {
		return err
	}
	return board.Append(tx, job, "created", detail)
}

// apply edits a job and keeps its three indexes true. It is the only way a job row changes.
func apply(tx store.Tx, job *storev1.Job, edit func()) error {
	before := proto.Clone(job).(*storev1.Job)
	edit()
	return put(tx, before, job)
}

// move changes a job's state by an event of the table, with its reason, and writes history.
func (j *Jobs) move(tx store.Tx, job *storev1.Job, e event, why writv1.Reason, detail string, edit func()) error {
	to, err := next(job.State, e)
	if err != nil {
		return err
	}
	err = apply(tx, job, func() {
		job.State, job.Reason, job.Detail = to, why, detail
		if edit != nil {
			edit()
		}
	})
	if err != nil {
		return err
	}
	return board.Append(tx, job, string(e), detail)
}

// Pause lets a held job wait without a lease. The attempt stays open: waiting does not end it.
func (j *Jobs) Pause(tx store.Tx, job *storev1.Job, why writv1.Reason, nextPhase string) error {
	err := j.move(tx, job, evPause, why, "", func() {
		job.Lease, job.Resumable, job.Phase = nil, false, nextPhase
	})
	if err != nil {
		return err
	}
	return j.moved(tx, job)
}

// Resumable makes a paused job claimable for a phase.
func (j *Jobs) Resumable(tx store.Tx, job *storev1.Job, phase string) error {
	if job.State != Paused || job.Resumable {
		return nil
	}
	return apply(tx, job, func() { job.Resumable, job.Phase = true, phase })
}

// Succeed ends a held job with its result. A reason says what the result lacks; nil lacks nothing.
func (j *Jobs) Succeed(tx store.Tx, job *storev1.Job, lacks *reason.Error) error {
	return j.end(tx, job, evSucceed, ledger.Failure, lacks)
}

// Block ends a job that cannot go on. Ordinary blocks keep every denied hold.
func (j *Jobs) Block(tx store.Tx, job *storev1.Job, why *reason.Error) error {
	return j.end(tx, job, evBlock, ledger.Failure, why)
}

// BlockHeld ends the caller's own job as blocked. Tenure is enough: whoever holds a job may always say
// that it cannot go on.
func (j *Jobs) BlockHeld(tx store.Tx, t guard.Tenure, why *reason.Error) error {
	s, err := guard.Held(tx, t)
	if err != nil {
		return err
	}
	if s.Job.State == Cancelling {
		return j.quiesce(tx, s.Job)
	}
	if s.Job.DeadlineUs <= tx.Now() { // decided by this clock, not by the caller's reason
		return j.Expire(tx, s.Job)
	}
	return j.Block(tx, s.Job, why)
}

// EndUnknown ends a job whose contacted call has no proven outcome.
func (j *Jobs) EndUnknown(tx store.Tx, job *storev1.Job, why *reason.Error) error {
	return j.end(tx, job, evUnknown, ledger.Failure, why)
}

func (j *Jobs) end(tx store.Tx, job *storev1.Job, e event, cause ledger.Cause, why *reason.Error) error {
	if why == nil {
		why = &reason.Error{}
	}
	rows, err := ledger.Of(tx, job.OperationId)
	if err != nil {
		return err
	}
	if job.State == Running && ledger.Open(rows, job.Id) {
		// Whatever stopped it, a contacted call without a proven outcome makes the job Unknown.
		e = evUnknown
	}
	err = j.move(tx, job, e, why.Code, why.Detail, func() {
		job.Lease, job.Resumable, job.EndedUs = nil, false, tx.Now()
	})
	if err != nil {
		return err
	}
	if err := endAttempt(tx, job, why.Code); err != nil {
		return err
	}
	if err := ledger.Cleanup(tx, job, cause, why); err != nil {
		return err
	}
	if err := noteHeld(tx, job); err != nil {
		return err
	}
	if job.Slot == 0 {
		return j.endOperation(tx, job, why)
	}
	return j.moved(tx, job)
}

// noteHeld keeps a job that still holds a denied row in the due index, so that its deadline releases it.
func noteHeld(tx store.Tx, job *storev1.Job) error {
	rows, err := ledger.Of(tx, job.OperationId)
	if err != nil || !ledger.Held(rows, job.Id) {
		return err
	}
	return apply(tx, job, func() { job.Held = true })
}

// endOperation records the end on the operation and ends children that have nothing left to wait for.
func (j *Jobs) endOperation(tx store.Tx, parent *storev1.Job, why *reason.Error) error {
	children, err := Children(tx, parent.OperationId)
	if err != nil {
		return err
	}
	for _, listed := range children {
		child, err := Job(tx, listed.Id) // ending a sibling may have changed it
		if err != nil {
			return err
		}
		if Ended(child.State) || child.State == Cancelling {
			continue
		}
		stop := why
		if stop.Code == writv1.Reason_REASON_UNSPECIFIED {
			stop = reason.New(writv1.Reason_REASON_CHILD_ENDED_EARLY, "the operation ended before this slot")
		}
		if err := j.end(tx, child, evBlock, ledger.Quiescence, stop); err != nil {
			return err
		}
	}
	return EditOperation(tx, parent.OperationId, func(op *storev1.Operation) {
		op.EndedUs, op.Reason, op.Detail = tx.Now(), why.Code, why.Detail
	})
}

// moved tells the capability that a child paused or ended, unless its parent is gone already.
func (j *Jobs) moved(tx store.Tx, job *storev1.Job) error {
	if job.Slot == 0 {
		return nil
	}
	return j.capabilities[job.Kind].Moved(tx, j, job.OperationId)
}

// EditOperation changes an operation row. Callers name what they change; nothing keeps a copy of the
// row across it, because history also counts there.
func EditOperation(tx store.Tx, id string, edit func(*storev1.Operation)) error {
	op := new(storev1.Operation)
	if ok, err := record.Get(tx, record.OperationKey(id), op); err != nil || !ok {
		return reason.New(writv1.Reason_REASON_NOT_FOUND, "operation %s: present=%v: %w", id, ok, err)
	}
	edit(op)
	return record.Put(tx, record.OperationKey(id), op)
}
