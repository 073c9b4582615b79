// Package research is the capability work.research-dossier.v1: one parent, one or two children of one
// kind, depth one, no agent loop, no tool, no parent model call.
//
// It owns the admitted input, the parent table, the transition of every phase (create, wait, prepare,
// fund, synthesize, assemble) and the manifest that the dossier is assembled from. It does no I/O:
// the host reads sources, runs modules and models, and brings outcomes back to these transitions.
//
// Invariants: what may be read, sent, spent and written is fixed at admission; no child acts while
// its parent runs; nothing is contacted before every slot is prompt-ready and funded together; a
// claim is adopted only if every citation is verified; an incomplete dossier never calls itself
// complete.
package research
