// Package guard is the only place where authority is checked. Every authority write names who acts
// (job, holder, fence) and at which boundary, and is checked here inside its own transaction: live
// lease, same fence, job running, not cancelled, deadline, owner, root, goal, source and consent
// revisions, and the parent rule.
//
// The parent rule is default deny: each capability hands in one table, boundary by parent state, and
// nothing that a request says can select a row. Liability writes (a charge, a response, Unknown) do
// not pass through here: money and evidence that arrive late are always kept.
package guard
