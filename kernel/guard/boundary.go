package guard

// Boundary names the moment at which authority is used.
type Boundary int

// The boundaries of page "leases and fences".
const (
	Claim Boundary = iota + 1
	Heartbeat
	Checkpoint
	ArtifactWrite
	CostBind
	Contact
	Effect
	Readback
	Terminal
	Adoption
)

// Boundaries lists every boundary, for tests that walk a table.
var Boundaries = []Boundary{Claim, Heartbeat, Checkpoint, ArtifactWrite, CostBind, Contact, Effect, Readback, Terminal, Adoption}

var boundaryNames = map[Boundary]string{
	Claim: "claim", Heartbeat: "heartbeat", Checkpoint: "checkpoint", ArtifactWrite: "artifact write",
	CostBind: "cost bind", Contact: "contact", Effect: "effect", Readback: "readback", Terminal: "terminal",
	Adoption: "adoption",
}

func (b Boundary) String() string { return boundaryNames[b] }

// needsEgress reports whether the boundary lets source text go towards a model.
func (b Boundary) needsEgress() bool { return b == CostBind || b == Contact || b == Effect }
