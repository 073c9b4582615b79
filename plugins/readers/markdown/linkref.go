package main

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// linkReferences takes link reference definitions off the start of a paragraph. What they define
// does not matter here, but where they end does: a paragraph of nothing else cannot become a setext
// heading. goldmark's own transformer copies the rest of the paragraph for each definition and
// accepts control characters in destinations.
type linkReferences struct{}

func (linkReferences) Transform(node *ast.Paragraph, r text.Reader, _ parser.Context) {
	lines := node.Lines()
	var joined []byte
	for i := range lines.Len() {
		segment := lines.At(i)
		line := bytes.Trim(segment.Value(r.Source()), " \t\n")
		if i == 0 && (len(line) == 0 || line[0] != '[') {
			return
		}
		joined = append(append(joined, line...), '\n')
	}
	size := 0
	for {
		n := definition(joined[size:])
		if n == 0 {
			break
		}
		size += n
	}
	count := bytes.Count(joined[:size], []byte("\n"))
	if count == 0 {
		return
	}
	ref := ast.NewLinkReferenceDefinition(nil, nil, nil)
	ref.Lines().AppendAll(lines.Sliced(0, count))
	node.Parent().InsertBefore(node.Parent(), node, ref)
	lines.SetSliced(count, lines.Len())
	if lines.Len() == 0 {
		node.Parent().RemoveChild(node.Parent(), node)
	}
}

const maxLabel = 999 // code points, by the standard

// definition is the size of the link reference definition that b starts with, final LF included, or
// 0. Every line of b ends with LF and none is blank.
func definition(b []byte) int {
	at := label(b)
	if at == 0 || at == len(b) || b[at] != ':' {
		return 0
	}
	at = gap(b, at+1)
	size := destination(b[at:])
	if size == 0 {
		return 0
	}
	at += size
	bare := 0 // where the definition ends if it has no title
	if end := skipSpaces(b, at); end < len(b) && b[end] == '\n' {
		bare = end + 1
	}
	next := gap(b, at)
	if next == at {
		return bare
	}
	if size = title(b[next:]); size == 0 {
		return bare
	}
	if end := skipSpaces(b, next+size); end < len(b) && b[end] == '\n' {
		return end + 1
	}
	return bare
}

// label is the size of a bracketed label, or 0.
func label(b []byte) int {
	if len(b) == 0 || b[0] != '[' {
		return 0
	}
	content := false
	for at := 1; at < len(b); at++ {
		switch b[at] {
		case '[':
			return 0
		case ']':
			if !content || utf8.RuneCount(b[1:at]) > maxLabel {
				return 0
			}
			return at + 1
		case '\\':
			content = true
			if at+1 < len(b) && b[at+1] != '\n' {
				at++
			}
		case ' ', '\t', '\n':
		default:
			content = true
		}
		if at > maxLabel*utf8.UTFMax {
			return 0
		}
	}
	return 0
}

// destination is the size of a link destination, or 0.
func destination(b []byte) int {
	if len(b) > 0 && b[0] == '<' {
		for at := 1; at < len(b); at++ {
			switch b[at] {
			case '>':
				return at + 1
			case '<', '\n':
				return 0
			case '\\':
				if b[at+1] != '\n' {
					at++
				}
			}
		}
		return 0
	}
	open := 0
	for at := 0; at < len(b); at++ {
		switch c := b[at]; {
		case c == '\\' && at+1 < len(b) && b[at+1] > ' ' && b[at+1] < utf8.RuneSelf:
			at++
		case c == '(':
			open++
		case c == ')':
			if open == 0 {
				return at
			}
			open--
		case c <= ' ' || c == 0x7f:
			if open > 0 {
				return 0
			}
			return at
		}
	}
	return 0
}

// title is the size of a quoted or parenthesised title, or 0.
func title(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	closer := b[0]
	switch b[0] {
	case '"', '\'':
	case '(':
		closer = ')'
	default:
		return 0
	}
	for at := 1; at < len(b); at++ {
		switch c := b[at]; {
		case c == closer:
			return at + 1
		case c == '(' && closer == ')':
			return 0
		case c == '\\':
			at++
		}
	}
	return 0
}

func skipSpaces(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t') {
		at++
	}
	return at
}

// gap passes spaces and at most one line end.
func gap(b []byte, at int) int {
	at = skipSpaces(b, at)
	if at < len(b) && b[at] == '\n' {
		at = skipSpaces(b, at+1)
	}
	return at
}
