// Package ledger owns money: reservations, groups, sums per ceiling scope, contact markers, charges
// and Unknown. Amounts are int64 micro-USD.
//
// A reservation is held before a provider can be contacted, marked contacted in its own committed
// transaction before the first byte, then settled or kept Unknown with its bound held; it is
// released only on proof that no contact happened. Held, settled and unknown amounts together stay
// within every ceiling in scope. A charge above its bound is kept whole and stops the deployment.
// A denial to contact is an outcome that commits. Money rows are never deleted.
//
// Authority (reserve, rebind, contact) goes through guard; liabilities (settle, unknown) are bound
// to the reservation alone and are never refused because something expired or was cancelled.
package ledger
