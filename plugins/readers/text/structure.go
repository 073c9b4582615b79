package main

import (
	"bytes"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/wasm"
)

// structure cuts text into paragraphs and the blank runs between them.
func structure(text []byte) wasm.StructureResult {
	result := empty()
	for len(text) > 0 {
		kind, size := run(text)
		result.Segments = append(result.Segments, segment(result.Segments, kind, text[:size]))
		text = text[size:]
	}
	return result
}

// whole makes the text one paragraph.
func whole(text []byte) wasm.StructureResult {
	result := empty()
	if len(text) > 0 {
		s := segment(nil, wasm.SegmentParagraph, text)
		result.Segments = append(result.Segments, s)
		result.Diagnostics = append(result.Diagnostics, wasm.Diagnostic{
			Code: "segment_limit", Start: s.Start, End: s.End, Detail: "too many segments for the output limit",
		})
	}
	return result
}

func empty() wasm.StructureResult {
	return wasm.StructureResult{Segments: []wasm.Segment{}, Diagnostics: []wasm.Diagnostic{}}
}

func segment(before []wasm.Segment, kind string, text []byte) wasm.Segment {
	start := 0
	if len(before) > 0 {
		start = before[len(before)-1].End
	}
	return wasm.Segment{Start: start, End: start + utf8.RuneCount(text), Kind: kind, Role: wasm.RoleBody}
}

// run is the longest prefix of lines that are all blank or all not, and what it is.
func run(text []byte) (kind string, size int) {
	blank := isBlank(line(text))
	for size < len(text) {
		next := line(text[size:])
		if isBlank(next) != blank {
			break
		}
		size += len(next)
	}
	if blank {
		return wasm.SegmentBlank, size
	}
	return wasm.SegmentParagraph, size
}

// line is the first line of text with its LF.
func line(text []byte) []byte {
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		return text[:end+1]
	}
	return text
}

func isBlank(line []byte) bool { return len(bytes.Trim(line, " \t\f\n")) == 0 }
