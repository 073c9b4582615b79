// Package operation owns operations and the durable jobs they are made of: admission, the job state
// table, claims, leases, fences, attempts, checkpoints, deadlines, cancellation and recovery.
//
// Every function is a pure transition inside one transaction. Authority comes from guard, money from
// ledger; a capability hands in its parent table and what follows when a child moves. Nothing here
// renews a deadline, a counter or an allowance, and no transition writes and then fails.
package operation
