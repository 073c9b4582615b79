package evidence

import (
	"slices"

	"github.com/writ-kernel/writ/abi/wasm"
)

// Citation binds a quote to a span. It is the border's own type, so what the kernel binds is what an
// assembler prints and an operator reads.
type Citation = wasm.Citation

// Citation statuses. Binding gives the first three, recomputing adds changed; the rest are decided
// by whoever checks permission.
const (
	StatusVerified    = "verified"    // byte-identical, in the cited passage
	StatusNear        = "near"        // matches under folding only: a hint for a person
	StatusUnobserved  = "unobserved"  // not in what was shown under the cited passage
	StatusChanged     = "changed"     // no longer what the text gives
	StatusRevoked     = "revoked"     // read permission is gone
	StatusUnavailable = "unavailable" // the source cannot be read
	StatusRedacted    = "redacted"    // overlaps a redaction
)

// Adopted is the adoption rule for claims: at least one citation, and every one verified.
func Adopted(citations []Citation) bool {
	return len(citations) > 0 && !slices.ContainsFunc(citations, func(c Citation) bool {
		return c.Status != StatusVerified
	})
}
