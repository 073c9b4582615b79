package ledger

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/policies"
)

// How a charge is known.
const (
	// EvidenceLocal: a free local model was run, nothing can be billed.
	EvidenceLocal = "local"
	// EvidenceReported: the provider reported a charge.
	EvidenceReported = "reported"
	// EvidenceComputed: reported usage times the price pinned at reservation.
	EvidenceComputed = "computed"
	// EvidenceNotSent: the live process proves that no request byte left.
	EvidenceNotSent = "not_sent"
)

// Charge is what is known of a call's cost.
type Charge struct {
	Actual   int64
	Evidence string
	Literal  string // as the provider wrote it
}

// Assess decides what a completed call cost. It returns false when that is not proven, which keeps
// the bound held: a route that reports charges settles from that field alone.
func Assess(route policies.Route, literal string) (Charge, bool) {
	switch {
	case route.ReportsCharge:
		actual, err := canon.ParseUSD(literal)
		if err != nil || actual == 0 && !route.Free() {
			return Charge{}, false
		}
		return Charge{Actual: actual, Evidence: EvidenceReported, Literal: literal}, true
	case route.Local && route.Free():
		return Charge{Evidence: EvidenceLocal}, true
	case route.Local && route.Price.PerMillionInputBytes == 0 && route.Price.PerMillionOutputTokens == 0:
		// A price per call needs no usage report.
		return Charge{Actual: route.Price.PerCall, Evidence: EvidenceComputed}, true
	}
	return Charge{}, false
}

// Settle books a charge. It is a liability write: it needs a contacted or Unknown row of exactly this
// payload and nothing else, and lands in the reservation's own period however late it comes. The
// same charge again changes nothing; another charge is a conflict.
func Settle(tx store.Tx, id, payloadSHA256, responseSHA256 string, charge Charge) error {
	row, err := liable(tx, id, payloadSHA256)
	if err != nil {
		return err
	}
	if row.State == settled {
		if row.Actual == charge.Actual && row.Evidence == charge.Evidence && row.Literal == charge.Literal {
			return nil
		}
		return reason.New(writv1.Reason_REASON_CONFLICT, "reservation %s was settled with another charge", id)
	}
	if charge.Actual < 0 {
		return reason.New(writv1.Reason_REASON_OUT_OF_RANGE, "a charge is not negative")
	}
	if err := mayMove(row.State, settled); err != nil {
		return err
	}
	err = change(tx, row, "settled", func() {
		row.State, row.EndedUs = settled, tx.Now()
		row.Actual, row.Evidence, row.Literal, row.ResponseSha256 = charge.Actual, charge.Evidence, charge.Literal, responseSHA256
	})
	if err != nil || charge.Actual <= row.Bound {
		return err
	}
	return record.Put(tx, record.OverrunKey(row.Deployment, row.Id), &storev1.Ref{Id: row.Id})
}

// MarkUnknown keeps the bound of a contacted call whose cost is not proven, with the reason. The
// response digest is kept when there was a response. It is a liability write.
func MarkUnknown(tx store.Tx, id, payloadSHA256, responseSHA256 string, why *reason.Error) error {
	row, err := liable(tx, id, payloadSHA256)
	if err != nil || row.State == settled {
		return err
	}
	if row.State == unknown {
		if row.ResponseSha256 != "" || responseSHA256 == "" {
			return nil
		}
		// The answer came late and proves no charge, but it is there now.
		return change(tx, row, "unknown", func() { row.ResponseSha256 = responseSHA256 })
	}
	if err := mayMove(row.State, unknown); err != nil {
		return err
	}
	return change(tx, row, "unknown", func() {
		row.State, row.EndedUs = unknown, tx.Now()
		row.UnknownReason, row.UnknownDetail, row.ResponseSha256 = why.Code, why.Detail, responseSHA256
	})
}

func liable(tx store.Tx, id, payloadSHA256 string) (*storev1.Reservation, error) {
	row, err := Get(tx, id)
	if err != nil {
		return nil, err
	}
	if row.PayloadSha256 != payloadSHA256 {
		return nil, reason.New(writv1.Reason_REASON_RESERVATION_MISMATCH, "reservation %s binds another payload", id)
	}
	if row.ContactedUs == 0 {
		return nil, reason.New(writv1.Reason_REASON_ILLEGAL_TRANSITION, "reservation %s was never contacted", id)
	}
	return row, nil
}
