package wasm

// DossierSchema names the assembler's input schema.
const DossierSchema = "writ.dossier.v1"

// Dossier is the body of an OpAssemble request for dossier.v1, as canonical JSON. It holds decided
// facts only; an assembler words them and decides nothing.
type Dossier struct {
	Schema      string           `json:"schema"`
	OperationID string           `json:"operation_id"`
	Question    string           `json:"question"`
	Complete    bool             `json:"complete"`
	CreatedAt   string           `json:"created_at"` // RFC 3339, UTC
	Deadline    string           `json:"deadline"`   // RFC 3339, UTC
	Route       DossierRoute     `json:"route"`
	Normalizer  string           `json:"normalizer"`
	Slots       []DossierSlot    `json:"slots"`
	Conflicts   []Conflict       `json:"conflicts"`
	Sources     []DossierSource  `json:"sources"`
	Money       DossierMoney     `json:"money"`
	Receipts    []DossierReceipt `json:"receipts"`
	NoLearning  bool             `json:"no_learning"`
}

// DossierRoute is the provider route that every slot used.
type DossierRoute struct {
	Name            string `json:"name"`
	Deployment      string `json:"deployment"`
	Model           string `json:"model"`
	LanguageModel   bool   `json:"language_model"`
	Provider        string `json:"provider"`
	ProviderVersion string `json:"provider_version"`
	ProviderSHA256  string `json:"provider_sha256"`
}

// DossierSlot is the outcome of one child. State is complete, incomplete, blocked, failed or
// unknown; Reason is a typed reason's name, empty when complete.
type DossierSlot struct {
	Slot           int             `json:"slot"` // from 1
	Perspective    string          `json:"perspective"`
	State          string          `json:"state"`
	Reason         string          `json:"reason"`
	Detail         string          `json:"detail"`
	Uncertainty    string          `json:"uncertainty"`
	Claims         []DossierClaim  `json:"claims"`
	Contradictions []Contradiction `json:"contradictions"`
}

// DossierClaim is attributed synthesis and the spans it points to.
type DossierClaim struct {
	Text      string     `json:"text"`
	Adopted   bool       `json:"adopted"`
	Citations []Citation `json:"citations"`
}

// Contradiction is one that the child itself declared.
type Contradiction struct {
	Text      string     `json:"text"`
	Citations []Citation `json:"citations"`
}

// Citation binds a quote to code points [Start, End) of a normalized text and to bytes
// [RawStart, RawEnd) of its source. Status is verified, near, unobserved, changed, revoked,
// unavailable or redacted; SourceText is the true source text beside a near match.
type Citation struct {
	Source     string `json:"source"`
	Name       string `json:"name"`
	RawSHA256  string `json:"raw_sha256"`
	TextSHA256 string `json:"text_sha256"`
	Normalizer string `json:"normalizer"`
	Start      int    `json:"start"`
	End        int    `json:"end"`
	RawStart   int    `json:"raw_start"`
	RawEnd     int    `json:"raw_end"`
	FromLine   int    `json:"from_line"`
	ToLine     int    `json:"to_line"`
	Quote      string `json:"quote"`
	SpanSHA256 string `json:"span_sha256"`
	Status     string `json:"status"`
	SourceText string `json:"source_text"`
	Passage    string `json:"passage"`
	// Role is that of the quoted passage: a quote from a hidden comment or an example says so.
	Role string `json:"role"`
}

// Conflict groups claims that rest on the very same span and exclude each other.
type Conflict struct {
	SpanSHA256 string     `json:"span_sha256"`
	Claims     []ClaimRef `json:"claims"`
}

// ClaimRef points to a claim by slot and by its position in that slot, from 0.
type ClaimRef struct {
	Slot  int `json:"slot"`
	Claim int `json:"claim"`
}

// DossierSource is one source and what of it each slot was shown.
type DossierSource struct {
	Source     string      `json:"source"`
	Name       string      `json:"name"`
	RawSHA256  string      `json:"raw_sha256"`
	TextSHA256 string      `json:"text_sha256"`
	Size       int64       `json:"size"`
	Lines      int         `json:"lines"`
	Ranges     []SlotRange `json:"ranges"`
	Status     string      `json:"status"`
	Reason     string      `json:"reason"`
}

// SlotRange is the lines FromLine to ToLine, both included, that one slot was shown.
type SlotRange struct {
	Slot     int `json:"slot"`
	FromLine int `json:"from_line"`
	ToLine   int `json:"to_line"`
}

// DossierMoney is the operation's ledger position in micro-USD.
type DossierMoney struct {
	Allowance int64 `json:"allowance"`
	Reserved  int64 `json:"reserved"`
	Contacted int64 `json:"contacted"`
	Settled   int64 `json:"settled"`
	Unknown   int64 `json:"unknown"`
}

// DossierReceipt is the ledger's record of one provider call, in micro-USD. Actual means something
// only when Evidence says how it is known.
type DossierReceipt struct {
	ReservationID  string `json:"reservation_id"`
	Slot           int    `json:"slot"`
	State          string `json:"state"`
	Deployment     string `json:"deployment"`
	Bound          int64  `json:"bound"`
	Actual         int64  `json:"actual"`
	Evidence       string `json:"evidence"`
	PayloadSHA256  string `json:"payload_sha256"`
	ResponseSHA256 string `json:"response_sha256"`
}

// Placement says on which lines of the assembled text each claim and each citation stands. Every
// claim and every citation of every slot's claims has exactly one entry.
type Placement struct {
	Claims    []ClaimPlace    `json:"claims"`
	Citations []CitationPlace `json:"citations"`
}

// ClaimPlace is lines FromLine to ToLine, both included.
type ClaimPlace struct {
	Slot     int `json:"slot"`
	Claim    int `json:"claim"`
	FromLine int `json:"from_line"`
	ToLine   int `json:"to_line"`
}

// CitationPlace is lines FromLine to ToLine, both included. Citation is the position within the
// claim, from 0.
type CitationPlace struct {
	Slot     int `json:"slot"`
	Claim    int `json:"claim"`
	Citation int `json:"citation"`
	FromLine int `json:"from_line"`
	ToLine   int `json:"to_line"`
}
