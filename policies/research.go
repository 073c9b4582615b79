package policies

// Research holds the ceilings of a research dossier. The maximum in each tag is the hard ceiling;
// the assembly reserve alone is a floor, because a smaller reserve would give the children more.
type Research struct {
	// AssemblyReserveSeconds is the end of the parent's deadline in which only assembly happens.
	AssemblyReserveSeconds int `json:"assembly_reserve_seconds" validate:"min=20,max=299"`
	// ParentDeadlineSeconds runs from first admission and is never renewed.
	ParentDeadlineSeconds int `json:"parent_deadline_seconds" validate:"max=300,gtfield=AssemblyReserveSeconds"`
	// ChildDeadlineSeconds covers preparation, waiting and the one synthesis.
	ChildDeadlineSeconds int `json:"child_deadline_seconds" validate:"min=1,max=120"`

	QuestionBytes    int `json:"question_bytes" validate:"min=1,max=2048"`
	PerspectiveBytes int `json:"perspective_bytes" validate:"min=1,max=1024"` // each

	// Slots is the number of children; each has exactly one perspective.
	Slots           int `json:"slots" validate:"min=1,max=2"`
	Sources         int `json:"sources" validate:"min=1,max=4"` // distinct, over all slots
	SourcesPerChild int `json:"sources_per_child" validate:"min=1,max=2"`

	PublicReads       int `json:"public_reads" validate:"min=0,max=4"` // GETs in all
	PublicReadSeconds int `json:"public_read_seconds" validate:"min=1,max=20"`

	SourceBytes  int `json:"source_bytes" validate:"min=1,max=65536"`   // raw, each
	SourcesBytes int `json:"sources_bytes" validate:"min=1,max=262144"` // raw, all
	ExcerptBytes int `json:"excerpt_bytes" validate:"min=1,max=4096"`   // quoted per child

	// PromptBytes bounds the canonical complete messages, everything included.
	PromptBytes int `json:"prompt_bytes" validate:"min=1,max=8192"`

	OutputTokens      int `json:"output_tokens" validate:"min=1,max=1024"`       // requested per call
	OutputTokensTotal int `json:"output_tokens_total" validate:"min=1,max=2048"` // requested in all
	OutputBytes       int `json:"output_bytes" validate:"min=1,max=16384"`       // strict JSON per call
	ContactSeconds    int `json:"contact_seconds" validate:"min=1,max=45"`       // one provider call

	DossierBytes  int `json:"dossier_bytes" validate:"min=1,max=65536"`
	ManifestBytes int `json:"manifest_bytes" validate:"min=1,max=65536"`

	Claims            int `json:"claims" validate:"min=1,max=8"` // per child
	CitationsPerClaim int `json:"citations_per_claim" validate:"min=1,max=2"`
	Contradictions    int `json:"contradictions" validate:"min=0,max=8"` // stated, per child
}

func defaultResearch() Research {
	return Research{
		ParentDeadlineSeconds:  300,
		ChildDeadlineSeconds:   120,
		AssemblyReserveSeconds: 20,
		QuestionBytes:          2 << 10,
		PerspectiveBytes:       1 << 10,
		Slots:                  2,
		Sources:                4,
		SourcesPerChild:        2,
		PublicReads:            4,
		PublicReadSeconds:      20,
		SourceBytes:            64 << 10,
		SourcesBytes:           256 << 10,
		ExcerptBytes:           4 << 10,
		PromptBytes:            8 << 10,
		OutputTokens:           1024,
		OutputTokensTotal:      2048,
		OutputBytes:            16 << 10,
		ContactSeconds:         45,
		DossierBytes:           64 << 10,
		ManifestBytes:          64 << 10,
		Claims:                 8,
		CitationsPerClaim:      2,
		Contradictions:         8,
	}
}
