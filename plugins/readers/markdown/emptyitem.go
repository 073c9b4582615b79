package main

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// A list item may begin with one blank line at most: an empty item ends at the blank line after it.
// goldmark remembers such an item in one flag for the whole parse, so an empty item of an inner list
// ends the outer list too, and a heading behind it turns into code. Here each item is remembered by
// itself, and goldmark's list parser is shown no blank line, so that it never sets its flag.

// endedItems holds the empty items that a blank line has ended.
type endedItems map[ast.Node]bool

type itemParser struct {
	parser.BlockParser
	ended endedItems
}

func (p itemParser) Continue(node ast.Node, r text.Reader, pc parser.Context) parser.State {
	switch line, _ := r.PeekLine(); {
	case isBlank(line) && !node.HasChildren():
		p.ended[node] = true
	case p.ended[node]:
		return parser.Close
	}
	return p.BlockParser.Continue(node, r, pc)
}

type listParser struct {
	parser.BlockParser
	ended endedItems
}

// Open refuses a list as a direct child of a list, which goldmark tells by the last open block: an
// item ended here may still be that block.
func (p listParser) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	node, state := p.BlockParser.Open(parent, r, pc)
	if _, inList := parent.(*ast.List); inList {
		return nil, parser.NoChildren
	}
	return node, state
}

func (p listParser) Continue(node ast.Node, r text.Reader, pc parser.Context) parser.State {
	line, _ := r.PeekLine()
	if isBlank(line) {
		return parser.Continue | parser.HasChildren
	}
	item, ok := node.LastChild().(*ast.ListItem)
	switch {
	case !ok || item.HasChildren():
	case p.ended[item] && !startsItem(line):
		return parser.Close
	case !p.ended[item] && indent(line) >= item.Offset:
		// goldmark takes a marker here for the next item, but it stands inside this one.
		return parser.Continue | parser.HasChildren
	}
	return p.BlockParser.Continue(node, r, pc)
}

// startsItem reports whether a line without tabs begins with a list marker.
func startsItem(line []byte) bool {
	if indent(line) > 3 {
		return false
	}
	content := line[indent(line):]
	digits := 0
	for digits < len(content) && content[digits] >= '0' && content[digits] <= '9' {
		digits++
	}
	marker := "-+*"
	if digits > 0 {
		marker = ".)"
	}
	return digits <= 9 && digits < len(content) && bytes.IndexByte([]byte(marker), content[digits]) >= 0 &&
		ends(content, digits+1)
}

func indent(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }
