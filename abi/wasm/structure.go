package wasm

// Segment kinds.
const (
	SegmentFrontMatter = "front_matter"
	SegmentHeading     = "heading"
	SegmentParagraph   = "paragraph"
	SegmentListItem    = "list_item"
	SegmentCode        = "code"
	SegmentQuote       = "quote"
	SegmentTable       = "table"
	SegmentHTML        = "html"
	SegmentRule        = "rule"
	SegmentBlank       = "blank"
)

// Roles a segment's words can play.
const (
	RoleBody        = "body"
	RoleExample     = "example"
	RoleQuoted      = "quoted"
	RoleHidden      = "hidden"
	RoleFrontMatter = "front_matter"
)

// SegmentKinds and Roles are the closed sets a reader may use.
func SegmentKinds() []string {
	return []string{SegmentFrontMatter, SegmentHeading, SegmentParagraph, SegmentListItem, SegmentCode,
		SegmentQuote, SegmentTable, SegmentHTML, SegmentRule, SegmentBlank}
}

// Roles lists every role.
func Roles() []string {
	return []string{RoleBody, RoleExample, RoleQuoted, RoleHidden, RoleFrontMatter}
}

// StructureResult is the body of an OpStructure result. Segments cover every code point of the text
// exactly once, in order, none of them empty; an empty text has none.
type StructureResult struct {
	Segments    []Segment    `json:"segments"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Segment is the code points [Start, End) of the text.
type Segment struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Kind  string `json:"kind"`
	Role  string `json:"role"`
	// Level is 1 to 6 for a heading, else 0.
	Level int `json:"level,omitempty"`
	// Title is a heading's text on one line.
	Title string `json:"title,omitempty"`
	// Ancestry holds the indices of the headings this segment stands under, outermost first: each
	// points to an earlier heading segment, levels grow, and a heading's own level is greater
	// than that of its last ancestor.
	Ancestry []int `json:"ancestry,omitempty"`
}

// Diagnostic reports what a reader could not make sense of, over code points [Start, End).
type Diagnostic struct {
	Code   string `json:"code"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Detail string `json:"detail,omitempty"`
}
