package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/host/provider/providertest"
	"github.com/writ-kernel/writ/host/runner"
	"github.com/writ-kernel/writ/kernel/store"
)

// afterAnswer ends a life right after an answer's bytes are complete and before anything books them.
type afterAnswer struct {
	files
	*effects
}

func (f afterAnswer) Write(owner, promise string, data []byte, limit int) (string, error) {
	digest, err := f.files.Write(owner, promise, data, limit)
	if strings.HasSuffix(promise, ".response") {
		f.effects.mu.Lock()
		if f.effects.dieAt == 0 {
			f.effects.dieAt = f.effects.count
			close(f.effects.dead)
		}
		f.effects.mu.Unlock()
		return "", store.ErrClosed
	}
	return digest, err
}

func TestAStoredAnswerIsBookedByTheNextLifeEvenIfItsJobWasCancelledMeanwhile(t *testing.T) {
	farEnd := providertest.NewServer(t, nil)
	m := newMachines(t, counting(farEnd), countingAdapter)(t)
	dying := newEffects(0)
	p := m.bootWith(dying, func(c *runner.Config) { c.Files = afterAnswer{files{m.workspace(c)}, dying} })
	id := p.submit(t, "counting", 10_000)
	if _, alive := p.wait(t, dying, id); alive {
		t.Fatal("the first life went on")
	}
	p.kill(t)

	// The next life is cancelled before it does anything: the job may not go on, the money counts.
	e := newEffects(0)
	p = m.bootWith(e, func(*runner.Config) {}, passive)
	if _, err := p.client.CancelOperation(t.Context(), &writv1.CancelOperationRequest{OperationId: id}); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	op, _ := p.wait(t, e, id)
	p.kill(t)
	if op.State != writv1.OperationState_OPERATION_STATE_CANCELLED || op.Money.Settled != 1000 || op.Money.Unknown != 0 {
		t.Fatalf("%s, money %v", op.State, op.Money)
	}
	if n := len(farEnd.Calls()); n != 1 {
		t.Fatalf("%d calls", n)
	}
}

// fullDisk fails to store answers.
type fullDisk struct{ files }

func (f fullDisk) Write(owner, promise string, data []byte, limit int) (string, error) {
	if strings.HasSuffix(promise, ".response") {
		return "", errors.New("no space left on device")
	}
	return f.files.Write(owner, promise, data, limit)
}

func TestAnAnswerThatCannotBeStoredBlocksItsSlotAndStillCosts(t *testing.T) {
	farEnd := providertest.NewServer(t, nil)
	m := newMachines(t, counting(farEnd), countingAdapter)(t)
	e := newEffects(0)
	p := m.bootWith(e, func(c *runner.Config) { c.Files = fullDisk{files{m.workspace(c)}} })
	defer p.kill(t)
	op, _ := p.wait(t, e, p.submit(t, "counting", 10_000))
	if op.State != writv1.OperationState_OPERATION_STATE_INCOMPLETE || op.Money.Settled != 2000 || op.Money.Unknown != 0 {
		t.Fatalf("%s %s, money %v", op.State, op.Reason, op.Money)
	}
}

func TestImportsOfTheSameBytesAtTheSameTimeAllSucceed(t *testing.T) {
	farEnd := providertest.NewServer(t, nil)
	m := newMachines(t, counting(farEnd), countingAdapter)(t)
	p := m.boot(newEffects(0))
	defer p.kill(t)
	var wg sync.WaitGroup
	errs := make(chan error, 16)
	for i := range 16 {
		wg.Go(func() {
			_, err := p.source.ImportSources(t.Context(), &writv1.ImportSourcesRequest{Items: []*writv1.ImportItem{
				{Name: fmt.Sprintf("%d.md", i%4), Content: []byte("The same words in every file.\n"), Read: true, Egress: true},
			}})
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestATokenThatNoListGaveIsRefused(t *testing.T) {
	farEnd := providertest.NewServer(t, nil)
	m := newMachines(t, counting(farEnd), countingAdapter)(t)
	p := m.boot(newEffects(0))
	defer p.kill(t)
	for range 3 {
		p.input(t, "counting", 1)
	}
	first, err := p.source.ListSources(t.Context(), &writv1.ListSourcesRequest{PageSize: 1})
	if err != nil || first.NextPageToken == "" {
		t.Fatal(first, err)
	}
	second, err := p.source.ListSources(t.Context(), &writv1.ListSourcesRequest{PageSize: 1, PageToken: first.NextPageToken})
	if err != nil || len(second.Sources) != 1 || second.Sources[0].SourceId == first.Sources[0].SourceId || second.NextPageToken != "" {
		t.Fatal(second, err)
	}
	for _, token := range []string{"junk", "!", "AAAA"} {
		if _, err := p.source.ListSources(t.Context(), &writv1.ListSourcesRequest{PageToken: token}); err == nil {
			t.Errorf("%q is taken", token)
		}
	}
}

func TestTimeGoesOnForOtherOperationsWhileEverySlotIsBusy(t *testing.T) {
	t.Parallel()
	farEnd := providertest.NewServer(t, providertest.Held)
	m := newMachines(t, counting(farEnd), countingAdapter)(t)
	e := newEffects(0)
	p := m.bootWith(e, func(c *runner.Config) { c.Parallel = 1 })
	defer p.kill(t)
	in := p.input(t, "counting", 10_000)
	busy := p.admit(t, "busy", in)
	if !farEnd.Wait(1, testPatience) {
		t.Fatal("the call never arrived")
	}
	in.Limits = &writv1.ResearchLimits{DeadlineSeconds: 21} // the shortest that there is
	waiting := p.admit(t, "waiting", in)
	op, _ := p.wait(t, e, waiting)
	if op.State != writv1.OperationState_OPERATION_STATE_FAILED || op.Reason != writv1.Reason_REASON_DEADLINE_EXCEEDED {
		t.Fatalf("%s %s", op.State, op.Reason)
	}
	still, err := p.client.GetOperation(t.Context(), &writv1.GetOperationRequest{OperationId: busy})
	// Contacted still, or given up at its own limit on a machine that took that long.
	if state := still.GetOperation().GetReceipts()[0].State; err != nil || state != "contacted" && state != "unknown" {
		t.Fatalf("the busy call is %v %v", still, err)
	}
	farEnd.Release()
}
