package ledger

import (
	"fmt"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/kernel/tlog"
)

// Ledger holds the transitions that need authority.
type Ledger struct {
	guard *guard.Guard
}

// New makes a ledger whose authority checks are the guard's.
func New(g *guard.Guard) *Ledger { return &Ledger{guard: g} }

const (
	reserved  = storev1.ReservationState_RESERVATION_STATE_RESERVED
	contacted = storev1.ReservationState_RESERVATION_STATE_CONTACTED
	settled   = storev1.ReservationState_RESERVATION_STATE_SETTLED
	unknown   = storev1.ReservationState_RESERVATION_STATE_UNKNOWN
	released  = storev1.ReservationState_RESERVATION_STATE_RELEASED
)

// Period is the UTC day that an amount is booked in, YYYY-MM-DD.
func Period(us int64) string { return time.UnixMicro(us).UTC().Format(time.DateOnly) }

// Get reads one reservation.
func Get(r store.Reader, id string) (*storev1.Reservation, error) {
	row := new(storev1.Reservation)
	ok, err := record.Get(r, record.ReservationKey(id), row)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, reason.New(writv1.Reason_REASON_NOT_FOUND, "reservation %s does not exist", id)
	}
	return row, nil
}

// Of lists the reservations of one operation in slot order.
func Of(r store.Reader, operation string) ([]*storev1.Reservation, error) {
	var rows []*storev1.Reservation
	err := record.Each(r, record.ReservationPrefix(operation), func(row *storev1.Reservation) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// change moves a reservation to its next form: the sums of every scope follow, and one leaf records it.
func change(tx store.Tx, row *storev1.Reservation, kind string, edit func()) error {
	before := position(row)
	edit()
	after := position(row)
	for _, scope := range scopes(row) {
		if err := book(tx, scope, before, after); err != nil {
			return err
		}
	}
	if err := record.Put(tx, record.ReservationKey(row.Id), row); err != nil {
		return err
	}
	_, err := tlog.AppendRecord(tx, "ledger."+kind, row.Owner, row.Id, row)
	return err
}

// legal lists the moves of a reservation's state. Settled rows move nowhere.
var legal = map[storev1.ReservationState][]storev1.ReservationState{
	reserved:  {contacted, released},
	contacted: {settled, unknown},
	unknown:   {settled},
	settled:   {},
	released:  {},
}

func mayMove(from, to storev1.ReservationState) error {
	for _, next := range legal[from] {
		if next == to {
			return nil
		}
	}
	return reason.New(writv1.Reason_REASON_ILLEGAL_TRANSITION, "a reservation does not move from %s to %s", name(from), name(to))
}

func name(s storev1.ReservationState) string { return StateName(s) }

// StateName is the lower-case name of a state, for example reserved.
func StateName(s storev1.ReservationState) string {
	switch s {
	case reserved:
		return "reserved"
	case contacted:
		return "contacted"
	case settled:
		return "settled"
	case unknown:
		return "unknown"
	case released:
		return "released"
	}
	return fmt.Sprintf("state(%d)", s)
}
