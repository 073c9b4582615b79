package main

import (
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/wasm"
)

// Diagnostic codes.
const (
	codeNestingLimit        = "nesting_limit"
	codeSegmentLimit        = "segment_limit"
	codeUnclosedComment     = "unclosed_comment"
	codeFrontMatterRejected = "front_matter_rejected"
)

// piece is bytes of the text, up to end, that become one segment.
type piece struct {
	end   int
	kind  string
	role  string
	level int
	title string
	top   bool // a heading at document level
}

// remark is a diagnostic in bytes.
type remark struct {
	code, detail string
	start, end   int
}

// structure reads a whole normalized text. A text of more segments than most becomes one.
func structure(text []byte, most int) wasm.StructureResult {
	size, rejected := frontMatter(text)
	var pieces []piece
	var remarks []remark
	if size > 0 {
		pieces = append(pieces, piece{end: size, kind: wasm.SegmentFrontMatter, role: wasm.RoleFrontMatter})
	}
	if rejected != "" {
		remarks = append(remarks, remark{code: codeFrontMatterRejected, detail: rejected, end: len("---")})
	}
	lines := newColumns(text, size)
	if blocks, notes, ok := read(lines, most); ok {
		pieces, remarks = append(pieces, blocks...), append(remarks, notes...)
	} else {
		pieces = flat(lines, pieces, most)
		remarks = append(remarks, remark{code: codeNestingLimit, start: size, end: len(text),
			detail: "too deep or too many blocks to be parsed; cut at blank lines"})
	}
	if len(pieces) > most {
		return whole(text)
	}
	return result(text, pieces, remarks)
}

// read parses a text part by part, until there are more pieces than most. ok is false when the text
// is beyond a bound.
func read(lines *columns, most int) (pieces []piece, remarks []remark, ok bool) {
	if tooDeep(lines) {
		return nil, nil, false
	}
	for lines.count() > 0 && len(pieces) <= most {
		b := parse(lines, nil)
		if b.over {
			return nil, nil, false
		}
		pieces, remarks = cut(lines.to(b.lines), b, pieces, remarks)
		lines = lines.from(b.lines)
	}
	return pieces, remarks, true
}

// whole makes the text one paragraph.
func whole(text []byte) wasm.StructureResult {
	return result(text, []piece{{end: len(text), kind: wasm.SegmentParagraph, role: wasm.RoleBody}},
		[]remark{{code: codeSegmentLimit, end: len(text), detail: "too many segments for the output limit"}})
}

// flat cuts at blank lines and knows nothing else. It stops when there are more pieces than most.
func flat(lines *columns, pieces []piece, most int) []piece {
	for n := 0; n < lines.count() && len(pieces) <= most; n++ {
		kind := wasm.SegmentParagraph
		if lines.blank(n) {
			kind = wasm.SegmentBlank
		}
		if last := len(pieces) - 1; last >= 0 && pieces[last].kind == kind {
			pieces[last].end = lines.start(n + 1)
			continue
		}
		pieces = append(pieces, piece{end: lines.start(n + 1), kind: kind, role: wasm.RoleBody})
	}
	return pieces
}

// result turns bytes to code points and gives each segment the headings it stands under.
func result(text []byte, pieces []piece, remarks []remark) wasm.StructureResult {
	out := wasm.StructureResult{Segments: make([]wasm.Segment, 0, len(pieces)), Diagnostics: []wasm.Diagnostic{}}
	var open []int // indices of the document-level headings in force, levels growing
	at, point := 0, 0
	for _, p := range pieces {
		if p.end <= at {
			continue
		}
		s := wasm.Segment{Start: point, End: point + utf8.RuneCount(text[at:p.end]),
			Kind: p.kind, Role: p.role, Level: p.level, Title: p.title}
		at, point = p.end, s.End
		above := open
		if p.kind == wasm.SegmentHeading {
			for len(above) > 0 && out.Segments[above[len(above)-1]].Level >= p.level {
				above = above[:len(above)-1]
			}
		}
		if len(above) > 0 {
			s.Ancestry = append([]int(nil), above...)
		}
		if p.top {
			open = append(above, len(out.Segments))
		}
		out.Segments = append(out.Segments, s)
	}
	at, point = 0, 0
	for _, r := range remarks {
		if r.start < at {
			at, point = 0, 0
		}
		point += utf8.RuneCount(text[at:r.start])
		at = r.start
		out.Diagnostics = append(out.Diagnostics, wasm.Diagnostic{Code: r.code, Detail: r.detail,
			Start: point, End: point + utf8.RuneCount(text[r.start:r.end])})
	}
	return out
}
