package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/store"
)

// drive works on one claimed job until its next durable boundary, keeping the lease meanwhile.
func (r *Runner) drive(work context.Context, claimed *operation.Claimed) {
	ctx, cancel := context.WithCancelCause(work)
	defer cancel(nil)
	// A job that panics must not take the process and everybody else's leases with it.
	defer func() {
		if p := recover(); p != nil {
			r.Log.Error("job panicked", "job", claimed.Job.Id, "panic", p)
			r.end(context.WithoutCancel(work), claimed.Tenure, errInternal)
		}
	}()
	beating := make(chan struct{})
	go func() {
		defer close(beating)
		r.heartbeat(ctx, cancel, claimed.Tenure)
	}()
	err := r.step(ctx, claimed)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause // why the work was stopped says more than how it noticed
	}
	cancel(nil)
	<-beating
	if err != nil && !errors.Is(err, errEnded) {
		r.end(context.WithoutCancel(work), claimed.Tenure, err)
	}
}

// heartbeat renews the lease at a third of its time. A refusal stops the work.
func (r *Runner) heartbeat(ctx context.Context, stop context.CancelCauseFunc, t guard.Tenure) {
	ticker := time.NewTicker(operation.LeaseTTL / 3)
	defer ticker.Stop()
	// Cancellation is a commit; looking at commits makes it known at once instead of at the next beat.
	changed := r.Store.Changed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			changed = r.Store.Changed()
			cancelled, err := r.cancelled(ctx, t)
			if err != nil {
				return // the store is closed; the step finds out by itself
			}
			if cancelled {
				stop(reason.New(writv1.Reason_REASON_CANCELLED, "cancelled by the operator"))
				return
			}
			continue
		case <-ticker.C:
		}
		err := r.Store.Update(ctx, func(tx store.Tx) error { return r.Jobs.Heartbeat(tx, t) })
		if _, refused := reason.As(err); refused {
			stop(err)
			return
		}
	}
}

func (r *Runner) cancelled(ctx context.Context, t guard.Tenure) (bool, error) {
	return store.Read(ctx, r.Store, func(s store.Reader) (bool, error) {
		job, err := operation.Job(s, t.Job)
		return err == nil && job.CancelRequested, err
	})
}

var errInternal = reason.New(writv1.Reason_REASON_INTERNAL, "an internal fault; the log of this process says more")

// end brings an error back to the kernel as what it means for the job.
func (r *Runner) end(ctx context.Context, t guard.Tenure, err error) {
	log := r.Log.With("job", t.Job, "fence", t.Fence)
	why, typed := reason.As(err)
	switch {
	case errors.Is(err, store.ErrCommitUnknown), errors.Is(err, store.ErrClosed), errors.Is(err, context.Canceled):
		log.Warn("job left for the next start", "error", err)
		return
	case !typed:
		log.Error("job failed inside", "error", err)
		why = errInternal
	}
	switch why.Code {
	case writv1.Reason_REASON_STALE_FENCE, writv1.Reason_REASON_LEASE_EXPIRED, writv1.Reason_REASON_JOB_NOT_RUNNING:
		log.Info("tenure lost", "reason", reason.Name(why.Code))
		return
	}
	log.Info("job cannot go on", "reason", reason.Name(why.Code), "detail", why.Detail)
	if err := r.Store.Update(ctx, func(tx store.Tx) error { return r.Jobs.BlockHeld(tx, t, why) }); err != nil {
		log.Error("ending the job failed", "error", err)
	}
}

// step does what the job's phase asks for.
func (r *Runner) step(ctx context.Context, claimed *operation.Claimed) error {
	steps := r.researchSteps()
	step, ok := steps[claimed.Job.Kind+"/"+claimed.Job.Phase]
	if !ok {
		return reason.New(writv1.Reason_REASON_INTERNAL, "no step for %s", fmt.Sprintf("%s/%s", claimed.Job.Kind, claimed.Job.Phase))
	}
	r.Log.Info("job claimed", "job", claimed.Job.Id, "phase", claimed.Job.Phase, "fence", claimed.Tenure.Fence)
	return step(ctx, claimed)
}
