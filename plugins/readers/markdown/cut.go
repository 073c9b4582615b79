package main

import (
	"bytes"
	"strings"

	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// leaf is a block without blocks of its own, and where it stands.
type leaf struct {
	span
	node           ast.Node
	quoted, listed bool
}

// cut turns parsed blocks into pieces of the text, after those already there. Every line goes to
// the block that claims it; lines that none claims are blank, or hold the markers of a quote alone.
func cut(lines *columns, b blocks, pieces []piece, remarks []remark) ([]piece, []remark) {
	next := 0
	unclaimed := func(until int) {
		for ; next < until; next++ {
			p := piece{end: lines.start(next + 1), kind: wasm.SegmentBlank, role: wasm.RoleBody}
			if !lines.blank(next) {
				p.kind, p.role = wasm.SegmentQuote, wasm.RoleQuoted
			}
			pieces = append(pieces, p)
		}
	}
	for _, l := range leaves(lines, b) {
		l.first = max(l.first, next)
		if l.last < l.first {
			continue
		}
		unclaimed(l.first)
		next = l.last + 1
		own, notes := describe(lines, l)
		pieces, remarks = append(pieces, own...), append(remarks, notes...)
	}
	unclaimed(lines.count())
	return pieces, remarks
}

// leaves lists the leaf blocks in the order of the text. The first one of a container also takes
// the lines on which the container began.
func leaves(lines *columns, b blocks) []leaf {
	var all []leaf
	var walk func(node ast.Node, at leaf, opened int)
	walk = func(node ast.Node, at leaf, opened int) {
		switch node.(type) {
		case *ast.Blockquote:
			at.quoted = true
		case *ast.ListItem:
			at.listed = true
		}
		if own, ok := b.spans[node]; ok && opened < 0 {
			opened = own.first
		}
		if isContainer(node) && node.FirstChild() != nil {
			for child := node.FirstChild(); child != nil; child = child.NextSibling() {
				walk(child, at, opened)
				opened = -1
			}
			return
		}
		if node == b.root {
			return
		}
		at.node, at.span = node, claimed(lines, b, node)
		if opened >= 0 {
			at.first = min(at.first, opened)
		}
		all = append(all, at)
	}
	walk(b.root, leaf{}, -1)
	return all
}

func isContainer(node ast.Node) bool {
	switch node.(type) {
	case *ast.Document, *ast.Blockquote, *ast.List, *ast.ListItem:
		return true
	}
	return false
}

// claimed is the lines of a leaf: those noted while it was parsed and those its node holds. An
// indented code block is followed by blank lines that it was parsed with and does not own.
func claimed(lines *columns, b blocks, node ast.Node) span {
	own, noted := b.spans[node]
	held := node.Lines()
	if held.Len() == 0 {
		return own
	}
	inside := span{lines.at(held.At(0).Start), lines.at(held.At(held.Len() - 1).Start)}
	if _, code := node.(*ast.CodeBlock); code || !noted {
		return inside
	}
	return span{min(own.first, inside.first), max(own.last, inside.last)}
}

// describe makes the pieces of one leaf.
func describe(lines *columns, l leaf) ([]piece, []remark) {
	text := lines.text
	start, end := lines.start(l.first), lines.start(l.last+1)
	p := piece{end: end, role: wasm.RoleBody}
	if l.quoted {
		p.role = wasm.RoleQuoted
	}
	switch node := l.node.(type) {
	case *ast.Heading:
		p.kind, p.level, p.title = wasm.SegmentHeading, node.Level, headingTitle(lines, node)
		p.top = !l.quoted && !l.listed
		return []piece{p}, nil
	case *ast.ThematicBreak:
		p.kind = wasm.SegmentRule
		return []piece{p}, nil
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		p.kind = wasm.SegmentCode
		if !l.quoted {
			p.role = wasm.RoleExample
		}
		return []piece{p}, nil
	case *ast.HTMLBlock:
		p.kind = wasm.SegmentHTML
		hidden, open := htmlComments(text[start:end])
		var notes []remark
		if open {
			from := start + hidden[len(hidden)-1][0]
			notes = append(notes, remark{code: codeUnclosedComment, start: from, end: end,
				detail: "the comment is not closed within its block"})
		}
		return hide(text, start, p, hidden), notes
	}
	p.kind = wasm.SegmentParagraph
	switch {
	case l.quoted:
		p.kind = wasm.SegmentQuote
	case l.listed:
		p.kind = wasm.SegmentListItem
	}
	var out []piece
	if header := tableHeader(lines, l.node.Lines()); header >= 0 {
		if header > l.first {
			before := p
			before.end = lines.start(header)
			out = hide(text, start, before, inlineComments(text[start:before.end]))
			start = before.end
		}
		p.kind = wasm.SegmentTable
	}
	return append(out, hide(text, start, p, inlineComments(text[start:end]))...), nil
}

// headingTitle is a heading's text on one line.
func headingTitle(lines *columns, heading *ast.Heading) string {
	var words []string
	for i := range heading.Lines().Len() {
		segment := heading.Lines().At(i)
		words = append(words, string(bytes.Trim(lines.original(segment.Start, segment.Stop), " \t\n")))
	}
	return strings.Join(words, " ")
}

// tableHeader is the line that heads a table within a paragraph, or -1: the one before the first
// delimiter row of as many cells.
func tableHeader(lines *columns, held *text.Segments) int {
	cells := 0
	for i := range held.Len() {
		segment := held.At(i)
		row := bytes.Trim(segment.Value(lines.source), " \t\n")
		n := rowCells(row)
		if i > 0 && n > 0 && n == cells && isDelimiterRow(row) {
			return lines.at(held.At(i - 1).Start)
		}
		cells = n
	}
	return -1
}

// rowCells counts the cells of a table row; a line without a bar is no row.
func rowCells(row []byte) int {
	bars, last := 0, -1
	for at := 0; at < len(row); at++ {
		switch row[at] {
		case '\\':
			at++
		case '|':
			bars++
			last = at
		}
	}
	if bars == 0 {
		return 0
	}
	cells := bars + 1
	if row[0] == '|' {
		cells--
	}
	if last == len(row)-1 && last > 0 {
		cells--
	}
	return cells
}

func isDelimiterRow(row []byte) bool {
	row = bytes.TrimSuffix(bytes.TrimPrefix(row, []byte("|")), []byte("|"))
	for cell := range bytes.SplitSeq(row, []byte("|")) {
		cell = bytes.TrimSuffix(bytes.TrimPrefix(bytes.Trim(cell, " \t"), []byte(":")), []byte(":"))
		if len(cell) == 0 || len(bytes.Trim(cell, "-")) > 0 {
			return false
		}
	}
	return true
}
