package rank

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/research"
	"github.com/writ-kernel/writ/abi/wasm"
)

// A block is a run of one passage's text that sentences never cross.
type block struct {
	start, end int // byte offsets into the passage's text
	level      int // 1 to 6 for a heading, else 0
	whole      bool
}

// silent says that no sentence of the passage may be selected: its words are not the document's
// own assertions, or no reader of the rendered document would see them.
func silent(p research.Passage) bool {
	switch p.Kind {
	case wasm.SegmentCode, wasm.SegmentFrontMatter, wasm.SegmentHTML, wasm.SegmentRule, wasm.SegmentBlank:
		return true
	}
	switch p.Role {
	case wasm.RoleHidden, wasm.RoleExample, wasm.RoleFrontMatter:
		return true
	}
	return false
}

// blocks cuts a passage at blank lines, headings, list items, table rows and fences. A passage is
// usually one segment already, but a plain-text reader hands over paragraphs that still hold lists
// and headings, and a line range may start in the middle of anything.
func blocks(p research.Passage) []block {
	if p.Kind == wasm.SegmentHeading {
		return []block{{end: len(p.Text), level: headingLevel(p.Text)}}
	}
	s := blockScanner{text: p.Text, plain: p.Kind != wasm.SegmentParagraph}
	for at := 0; at < len(p.Text); {
		end, next := lineEnd(p.Text, at)
		s.line(at, end)
		at = next
	}
	s.flush()
	return s.out
}

type blockScanner struct {
	text  string
	plain bool // structure was not resolved by a reader, so underlined headings may occur
	out   []block
	open  bool
	cur   block
	fence string
}

func (s *blockScanner) line(start, end int) {
	line := strings.TrimSpace(s.text[start:end])
	if s.fence != "" {
		if strings.HasPrefix(line, s.fence) && strings.Trim(line, s.fence[:1]) == "" {
			s.fence = ""
		}
		return
	}
	if fence := openingFence(line); fence != "" {
		s.flush()
		s.fence = fence
		return
	}
	indent := start + strings.Index(s.text[start:end], line)
	switch level := headingLevel(line); {
	case line == "":
		s.flush()
	case strings.HasPrefix(line, "#") && level > 0 && isATX(line):
		s.flush()
		s.out = append(s.out, block{start: indent, end: end, level: level})
	case isUnderline(line):
		if s.open && s.plain {
			s.cur.level = 1
			if line[0] == '-' {
				s.cur.level = 2
			}
		}
		s.flush()
	case strings.HasPrefix(line, "|"):
		s.row(indent, end, line)
	default:
		if marker := itemMarker(line); marker > 0 {
			s.flush()
			indent += marker
		}
		if !s.open {
			s.open, s.cur = true, block{start: indent}
		}
		s.cur.end = end
	}
}

// row takes a table row as one unit, because its cells mean something only together. The header
// row names columns and asserts nothing.
func (s *blockScanner) row(start, end int, line string) {
	s.flush()
	if strings.Trim(line, "|-: \t") == "" {
		if n := len(s.out); n > 0 && s.out[n-1].whole {
			s.out = s.out[:n-1]
		}
		return
	}
	s.out = append(s.out, block{start: start, end: end, whole: true})
}

func (s *blockScanner) flush() {
	if s.open {
		s.out = append(s.out, s.cur)
	}
	s.open = false
}

func lineEnd(text string, at int) (end, next int) {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i, at + i + 1
	}
	return len(text), len(text)
}

func openingFence(line string) string {
	for _, mark := range []string{"`", "~"} {
		run := len(line) - len(strings.TrimLeft(line, mark))
		if run >= 3 && !(mark == "`" && strings.Contains(line[run:], "`")) {
			return line[:run]
		}
	}
	return ""
}

// headingLevel counts leading number signs; a heading without them is a top one.
func headingLevel(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "#"))
	return min(max(n, 1), 6)
}

func isATX(line string) bool {
	rest := strings.TrimLeft(line, "#")
	return len(line)-len(rest) <= 6 && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

func isUnderline(line string) bool {
	return len(line) >= 3 && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}

// itemMarker is the length of a list or quote marker with its white space, or 0.
func itemMarker(line string) int {
	body := strings.TrimLeft(line, ">")
	if len(body) < len(line) {
		return len(line) - len(strings.TrimLeft(body, " \t"))
	}
	marker := 0
	if strings.HasPrefix(line, "•") {
		marker = len("•")
	} else if strings.ContainsRune("-*+", rune(line[0])) {
		marker = 1
	} else if digits := len(line) - len(strings.TrimLeft(line, "0123456789")); digits > 0 && digits <= 3 &&
		digits < len(line) && (line[digits] == '.' || line[digits] == ')') {
		marker = digits + 1
	}
	if marker == 0 {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(line[marker:])
	if !unicode.IsSpace(r) {
		return 0
	}
	return len(line) - len(strings.TrimLeftFunc(line[marker:], unicode.IsSpace))
}
