package main

import (
	"bytes"

	"github.com/writ-kernel/writ/abi/wasm"
)

// htmlComments finds the comments in the text of an HTML block, as [from, to) pairs. open says that
// the last one has no end and runs to the end of the text.
func htmlComments(b []byte) (found [][2]int, open bool) {
	for at := 0; ; {
		from := bytes.Index(b[at:], []byte("<!--"))
		if from < 0 {
			return found, false
		}
		from += at
		size := commentSize(b[from:])
		if size == 0 {
			return append(found, [2]int{from, len(b)}), true
		}
		at = from + size
		found = append(found, [2]int{from, at})
	}
}

// inlineComments finds the comments in the text of a paragraph. There a backslash or a code span
// makes "<!--" plain words, and so does a missing end.
func inlineComments(b []byte) (found [][2]int) {
	if !bytes.Contains(b, []byte("<!--")) {
		return nil
	}
	lastRun := backtickRuns(b)
	lastEnd := bytes.LastIndex(b, []byte("-->"))
	for at := 0; at < len(b); {
		switch b[at] {
		case '\\':
			at += 2
		case '`':
			n := runOf(b[at:])
			at += n
			if lastRun[n] < at {
				continue
			}
			for {
				at += bytes.IndexByte(b[at:], '`')
				closer := runOf(b[at:])
				at += closer
				if closer == n {
					break
				}
			}
		case '<':
			if !bytes.HasPrefix(b[at:], []byte("<!--")) || at > lastEnd {
				at++
				continue
			}
			size := commentSize(b[at:])
			if size == 0 {
				at++
				continue
			}
			found = append(found, [2]int{at, at + size})
			at += size
		default:
			at++
		}
	}
	return found
}

// commentSize is the size of the comment that b starts with, or 0 if it has no end.
func commentSize(b []byte) int {
	const start = len("<!--")
	for _, short := range []string{">", "->"} {
		if bytes.HasPrefix(b[start:], []byte(short)) {
			return start + len(short)
		}
	}
	end := bytes.Index(b[start:], []byte("-->"))
	if end < 0 {
		return 0
	}
	return start + end + len("-->")
}

// backtickRuns is the offset of the last run of backticks of each length.
func backtickRuns(b []byte) map[int]int {
	last := make(map[int]int)
	for at := 0; at < len(b); {
		next := bytes.IndexByte(b[at:], '`')
		if next < 0 {
			break
		}
		at += next
		n := runOf(b[at:])
		last[n] = at
		at += n
	}
	return last
}

// runOf is the length of the run of backticks that b starts with.
func runOf(b []byte) int { return len(b) - len(bytes.TrimLeft(b, "`")) }

// hide cuts the comments out of a piece that starts at start. White space that stands alone between
// or around comments, or ends a comment's line, goes with them.
func hide(text []byte, start int, p piece, hidden [][2]int) []piece {
	var out []piece
	add := func(end int, isHidden bool) {
		words := text[start:end]
		if len(words) == 0 {
			return
		}
		if last := len(out) - 1; last >= 0 && (isHidden || isBlank(words)) && out[last].role == wasm.RoleHidden {
			out[last].end, start = end, end
			return
		}
		next := p
		next.end, start = end, end
		if isHidden || isBlank(words) && len(hidden) > 0 {
			next.kind, next.role = wasm.SegmentHTML, wasm.RoleHidden
		}
		out = append(out, next)
	}
	base := start
	for _, h := range hidden {
		add(base+h[0], false)
		add(base+h[1]+lineRest(text[base+h[1]:p.end]), true)
	}
	add(p.end, false)
	return out
}

// lineRest is the size of the rest of the first line if that is blank, else 0.
func lineRest(b []byte) int {
	if end := skipSpaces(b, 0); end < len(b) && b[end] == '\n' {
		return end + 1
	}
	return 0
}
