package research_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/kernel/grant"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/kernel/store/storetest"
	"github.com/writ-kernel/writ/policies"
)

// world is a real kernel over a store in memory and a clock that the test moves. What a host would do
// between transitions is done here with fixed bytes.
type world struct {
	t        testing.TB
	store    *store.Committer
	clock    *storetest.Clock
	jobs     *operation.Jobs
	research *research.Research
	ledger   *ledger.Ledger
	policy   *policies.Policy
	sources  []*storev1.Source
}

const (
	owner = "local"
	paid  = "paid" // a priced local route: not rerunnable, settles from its report
	paidB = int64(5000)
)

func newWorld(t testing.TB) *world {
	t.Helper()
	s, clock := storetest.New(t)
	return newWorldOn(t, s, clock)
}

func newWorldOn(t testing.TB, s *store.Committer, clock *storetest.Clock) *world {
	t.Helper()
	w := &world{t: t, policy: policies.Default(), store: s, clock: clock}
	w.policy.Routes[paid] = policies.Route{
		Deployment: "test/paid", Plugin: "paid", Model: "m", Local: true, LanguageModel: true, ReportsCharge: true,
		Price: policies.Price{PerCall: paidB},
	}
	w.assemble()
	w.do(func(tx store.Tx) error {
		return grant.Open(tx, grant.Genesis{StoreID: []byte("store"), LeafKey: []byte("leaf"), UID: 1000, Policy: w.policy})
	})
	for i := range 2 {
		w.do(func(tx store.Tx) error {
			raw := canon.Digest([]byte{byte(i)})
			s, err := grant.ImportSource(tx, grant.Import{Read: true, Egress: true, Source: &storev1.Source{
				Id: record.SourceID(owner, fmt.Sprint(i), raw), Owner: owner, Name: fmt.Sprint(i), Sha256: raw,
				Size: 1000, Normalizer: "text.v1", TextSha256: raw, MapSha256: raw, Lines: 100,
			}})
			w.sources = append(w.sources, s)
			return err
		})
	}
	return w
}

// assemble makes the kernel's transitions anew, as a restart does.
func (w *world) assemble() {
	jobs, g := operation.New(research.Definition())
	w.jobs, w.ledger = jobs, ledger.New(g)
	w.research = research.New(jobs, g, w.ledger)
}

// reboot is what the next process does with the store of one that was killed.
func (w *world) reboot() {
	w.t.Helper()
	w.assemble()
	w.do(func(tx store.Tx) error {
		if err := grant.Open(tx, grant.Genesis{UID: 1000, Policy: w.policy}); err != nil {
			return err
		}
		return operation.Boot(tx)
	})
}

// open is what a process with this uid does first.
func (w *world) open(uid uint32) func(store.Tx) error {
	return func(tx store.Tx) error { return grant.Open(tx, grant.Genesis{UID: uid, Policy: w.policy}) }
}

func (w *world) try(fn func(store.Tx) error) error { return w.store.Update(context.Background(), fn) }

func (w *world) do(fn func(store.Tx) error) {
	w.t.Helper()
	if err := w.try(fn); err != nil {
		w.t.Fatal(err)
	}
}

func read[T any](w *world, fn func(store.Reader) (T, error)) T {
	w.t.Helper()
	v, err := store.Read(context.Background(), w.store, fn)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

func (w *world) governing(route string) policies.Governing {
	w.t.Helper()
	g, err := w.policy.Governing(route)
	if err != nil {
		w.t.Fatal(err)
	}
	return g
}

// input is a valid input of n slots on a route, with room for its calls.
func (w *world) input(route string, slots int) research.Input {
	in := research.Input{Question: "What holds?", Route: route, Allowance: 50_000}
	for i := range slots {
		s := w.sources[i]
		in.Slots = append(in.Slots, research.Slot{Perspective: fmt.Sprintf("view %d", i), Sources: []research.SourceUse{{
			SourceID: s.Id, SHA256: s.Sha256, FromLine: 1, ToLine: 10, ReadRevision: s.Read.Revision, EgressRevision: s.Egress.Revision,
		}}})
	}
	return in
}

func (w *world) admit(key string, in research.Input) (op *storev1.Operation, duplicate bool, err error) {
	request := research.Request{Owner: owner, Key: key, Input: in, Governing: w.governing(in.Route), Pins: research.Pins{
		Model: research.Pin{Name: "m", Version: "1", SHA256: canon.Digest([]byte("m"))},
	}}
	err = w.try(func(tx store.Tx) (err error) {
		op, duplicate, err = research.Admit(tx, request)
		return err
	})
	return op, duplicate, err
}

func (w *world) mustAdmit(in research.Input) string {
	w.t.Helper()
	op, _, err := w.admit("key", in)
	if err != nil {
		w.t.Fatal(err)
	}
	return op.Id
}

// claim takes the next job, nil when there is none.
func (w *world) claim() *operation.Claimed {
	w.t.Helper()
	var c *operation.Claimed
	w.do(func(tx store.Tx) (err error) {
		c, _, err = w.jobs.Claim(tx, "holder", w.research.Bind)
		return err
	})
	return c
}

func (w *world) mustClaim(slot uint32, phase string) *operation.Claimed {
	w.t.Helper()
	c := w.claim()
	if c == nil || c.Job.Slot != slot || c.Job.Phase != phase {
		w.t.Fatalf("claimed %v, want slot %d in phase %s", c, slot, phase)
	}
	return c
}

func (w *world) job(op string, slot uint32) *storev1.Job {
	w.t.Helper()
	return read(w, func(r store.Reader) (*storev1.Job, error) { return operation.Job(r, record.JobID(op, slot)) })
}

func (w *world) reservation(op string, slot uint32) *storev1.Reservation {
	w.t.Helper()
	return read(w, func(r store.Reader) (*storev1.Reservation, error) {
		return ledger.Get(r, record.ReservationID(op, slot))
	})
}

func (w *world) reservations(op string) []*storev1.Reservation {
	w.t.Helper()
	return read(w, func(r store.Reader) ([]*storev1.Reservation, error) { return ledger.Of(r, op) })
}

func (w *world) wantJob(op string, slot uint32, state operation.State, why writv1.Reason) {
	w.t.Helper()
	if j := w.job(op, slot); j.State != state || j.Reason != why {
		w.t.Fatalf("job %d is %s %s (%s), want %s %s", slot, j.State, j.Reason, j.Detail, state, why)
	}
}

func wantReason(t testing.TB, err error, code writv1.Reason) {
	t.Helper()
	if !reason.Is(err, code) {
		t.Fatalf("got %v, want %s", err, reason.Name(code))
	}
}

// The steps of a host.

func prompt(slot uint32) []byte { return fmt.Appendf(nil, "prompt %d", slot) }

func (w *world) create(op string) {
	w.t.Helper()
	c := w.mustClaim(0, research.PhaseCreate)
	w.do(func(tx store.Tx) error { return w.research.Create(tx, c.Tenure) })
	w.wantJob(op, 0, operation.Paused, writv1.Reason_REASON_RESEARCH_WAIT_SOURCES)
}

func (w *world) prepare(slot uint32) {
	w.t.Helper()
	c := w.mustClaim(slot, research.PhasePrepare)
	w.do(func(tx store.Tx) error { _, err := w.research.Permit(tx, c.Tenure); return err })
	w.do(func(tx store.Tx) error { return w.research.Ready(tx, c.Tenure, ready(slot)) })
}

func ready(slot uint32) research.PromptReady {
	return research.PromptReady{PromptSHA256: canon.Digest(prompt(slot)), PromptBytes: len(prompt(slot))}
}

func (w *world) fund(route string) {
	w.t.Helper()
	c := w.mustClaim(0, research.PhaseFund)
	w.do(func(tx store.Tx) error { return w.research.Fund(tx, c.Tenure, w.governing(route)) })
}

// toFunded brings a new operation to the moment before its first synthesis claim.
func (w *world) toFunded(route string, slots int) string {
	w.t.Helper()
	op := w.mustAdmit(w.input(route, slots))
	w.create(op)
	for i := range slots {
		w.prepare(uint32(i + 1))
	}
	w.fund(route)
	return op
}

func (w *world) contact(c *operation.Claimed, route string) *reason.Error {
	w.t.Helper()
	var denied *reason.Error
	w.do(func(tx store.Tx) (err error) {
		denied, err = w.research.Contact(tx, c.Tenure, canon.Digest(prompt(c.Job.Slot)), w.governing(route))
		return err
	})
	return denied
}

var response = research.Response{SHA256: canon.Digest([]byte("response")), Size: 8, Stored: true}

func (w *world) respond(c *operation.Claimed, charge *ledger.Charge) {
	w.t.Helper()
	w.do(func(tx store.Tx) error {
		return w.research.Respond(tx, c.Job.Id, canon.Digest(prompt(c.Job.Slot)), response, charge)
	})
}

func reported(actual int64) *ledger.Charge {
	return &ledger.Charge{Actual: actual, Evidence: ledger.EvidenceReported, Literal: "literal"}
}

func (w *world) finish(c *operation.Claimed) {
	w.t.Helper()
	w.do(func(tx store.Tx) error {
		return w.research.Finish(tx, c.Tenure, research.Output{
			Perspective: "view", Uncertainty: "some", ResponseSHA256: response.SHA256,
			Claims: []wasm.DossierClaim{{Text: "It holds.", Citations: []wasm.Citation{}}},
		})
	})
}

func (w *world) synthesize(slot uint32, route string, charge *ledger.Charge) {
	w.t.Helper()
	c := w.mustClaim(slot, research.PhaseSynthesize)
	if denied := w.contact(c, route); denied != nil {
		w.t.Fatal(denied)
	}
	w.respond(c, charge)
	w.finish(c)
}

func (w *world) assembled(op string, c *operation.Claimed) research.Result {
	w.t.Helper()
	w.do(func(tx store.Tx) error { _, _, err := w.research.Promise(tx, c.Tenure); return err })
	manifest := read(w, func(r store.Reader) ([]byte, error) {
		row, err := operation.Get(r, owner, op)
		if err != nil {
			return nil, err
		}
		d, err := research.Manifest(r, row)
		if err != nil {
			return nil, err
		}
		return canon.Marshal(d)
	})
	return research.Result{
		DossierSHA256: canon.Digest([]byte("dossier")), DossierSize: 7, ManifestSHA256: canon.Digest(manifest), ManifestSize: len(manifest),
	}
}

func (w *world) adopt(op string) {
	w.t.Helper()
	c := w.mustClaim(0, research.PhaseAssemble)
	result := w.assembled(op, c)
	w.do(func(tx store.Tx) error { return w.research.Adopt(tx, c.Tenure, result) })
}

func (w *world) sweep() {
	w.t.Helper()
	w.do(func(tx store.Tx) error { _, _, err := w.jobs.Sweep(tx, operation.SweepLimit); return err })
}

// sumsAgree recomputes every operation sum from its rows (I7).
func (w *world) sumsAgree(op string) {
	w.t.Helper()
	want := new(storev1.Sum)
	for _, row := range w.reservations(op) {
		switch row.State {
		case storev1.ReservationState_RESERVATION_STATE_RESERVED:
			want.Reserved += row.Bound
		case storev1.ReservationState_RESERVATION_STATE_CONTACTED:
			want.Contacted += row.Bound
		case storev1.ReservationState_RESERVATION_STATE_SETTLED:
			want.Settled += row.Actual
		case storev1.ReservationState_RESERVATION_STATE_UNKNOWN:
			want.Unknown += row.Bound
		}
	}
	got := read(w, func(r store.Reader) (*storev1.Sum, error) { return ledger.Sum(r, op) })
	if !proto.Equal(got, want) {
		w.t.Fatalf("stored sum %v, rows give %v", got, want)
	}
}

const (
	stReserved  = storev1.ReservationState_RESERVATION_STATE_RESERVED
	stContacted = storev1.ReservationState_RESERVATION_STATE_CONTACTED
	stSettled   = storev1.ReservationState_RESERVATION_STATE_SETTLED
	stUnknown   = storev1.ReservationState_RESERVATION_STATE_UNKNOWN
	stReleased  = storev1.ReservationState_RESERVATION_STATE_RELEASED
)

func (w *world) wantRow(op string, slot uint32, state storev1.ReservationState) *storev1.Reservation {
	w.t.Helper()
	row := w.reservation(op, slot)
	if row.State != state {
		w.t.Fatalf("slot %d: reservation is %s, want %s", slot, row.State, state)
	}
	w.sumsAgree(op)
	return row
}

const second = time.Second

// stale is a tenure that was overtaken: the fence before the present one.
func stale(c *operation.Claimed) guard.Tenure {
	t := c.Tenure
	t.Fence--
	return t
}
