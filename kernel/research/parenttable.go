package research

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/kernel/guard"
)

// Phases of the parent and of a child: what the next claim works on.
const (
	PhaseCreate     = "create"
	PhaseFund       = "fund"
	PhaseAssemble   = "assemble"
	PhasePrepare    = "prepare"
	PhaseSynthesize = "synthesize"
)

// ParentTable is the whole permission of a research child to act. A child prepares only while its
// parent waits for sources, and synthesizes only while its parent waits for children; while the parent
// runs, or is paused for any other reason, no child acts. Adoption is the parent's alone.
var ParentTable = guard.ParentTable{
	row(PhasePrepare, guard.Claim),
	row(PhasePrepare, guard.Heartbeat),
	row(PhasePrepare, guard.Checkpoint),
	row(PhasePrepare, guard.ArtifactWrite),
	row(PhasePrepare, guard.Readback),
	row(PhasePrepare, guard.Terminal),

	row(PhaseSynthesize, guard.Claim),
	row(PhaseSynthesize, guard.Heartbeat),
	row(PhaseSynthesize, guard.Checkpoint),
	row(PhaseSynthesize, guard.ArtifactWrite),
	row(PhaseSynthesize, guard.CostBind),
	row(PhaseSynthesize, guard.Contact),
	row(PhaseSynthesize, guard.Effect),
	row(PhaseSynthesize, guard.Readback),
	row(PhaseSynthesize, guard.Terminal),
}

func row(phase string, b guard.Boundary) guard.Rule {
	why := writv1.Reason_REASON_RESEARCH_WAIT_SOURCES
	if phase == PhaseSynthesize {
		why = writv1.Reason_REASON_RESEARCH_WAIT_CHILDREN
	}
	return guard.Rule{Phase: phase, Boundary: b, State: writv1.JobState_JOB_STATE_PAUSED, Reason: why}
}
