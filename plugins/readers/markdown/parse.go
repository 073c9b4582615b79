package main

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// span is lines first to last, both included.
type span struct{ first, last int }

// blocks is a parsed part of a text.
type blocks struct {
	root  ast.Node
	spans map[ast.Node]span // of every node that a block parser opened
	lines int               // how many lines the part has
	over  bool              // it has too many blocks and is cut short
}

// Nodes take about a kilobyte each, and a part is parsed and let go before the next, so that memory
// is bounded.
const (
	// partLines is after how many lines a part ends, at the first place where no block is open.
	partLines = 1000
	// maxBlocks is how many blocks one part may have. A text that passes it, which takes thousands
	// of list items or headings without a blank line, is cut flat.
	maxBlocks = 20_000
)

// parse runs the block parser over the first part of the lines. watch, when not nil, stands between
// the parser and its reader, so that a test can count the work.
func parse(lines *columns, watch func(text.Reader) text.Reader) blocks {
	b := blocks{spans: make(map[ast.Node]span), lines: lines.count()}
	ended := make(endedItems)
	order := []parser.BlockParser{
		parser.NewSetextHeadingParser(),
		parser.NewThematicBreakParser(),
		listParser{parser.NewListParser(), ended},
		itemParser{parser.NewListItemParser(), ended},
		parser.NewCodeBlockParser(),
		parser.NewATXHeadingParser(),
		parser.NewFencedCodeBlockParser(),
		parser.NewBlockquoteParser(),
		htmlBlock{},
		parser.NewParagraphParser(),
	}
	var prioritized []util.PrioritizedValue
	for priority, p := range order {
		prioritized = append(prioritized, util.Prioritized(spanned{p, b.spans}, priority))
	}
	p := parser.NewParser(
		parser.WithBlockParsers(prioritized...),
		parser.WithParagraphTransformers(util.Prioritized(linkReferences{}, 0)),
	)
	reader := text.NewReader(lines.source)
	if watch != nil {
		reader = watch(reader)
	}
	b.root = p.Parse(&part{reader, &b})
	return b
}

// part ends the text early: at a place between blocks, when there have been lines enough, or at
// any line, when there have been too many blocks.
type part struct {
	text.Reader
	*blocks
}

// SkipBlankLines is what goldmark calls when no block is open, and only then.
func (p *part) SkipBlankLines() (text.Segment, int, bool) {
	if line, at := p.Position(); line >= partLines && at.Start < len(p.Source()) {
		p.lines = line
		return at, 0, false
	}
	return p.Reader.SkipBlankLines()
}

func (p *part) AdvanceLine() {
	p.over = p.over || len(p.spans) > maxBlocks
	p.Reader.AdvanceLine()
}

func (p *part) PeekLine() ([]byte, text.Segment) {
	line, segment := p.Reader.PeekLine()
	if p.over {
		return nil, segment
	}
	return line, segment
}

// spanned notes the lines that a block takes up. goldmark's nodes do not hold them: a fence's and a
// setext heading's last line, and the line of anything empty, are in no node.
type spanned struct {
	parser.BlockParser
	spans map[ast.Node]span
}

func (s spanned) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := r.Position()
	node, state := s.BlockParser.Open(parent, r, pc)
	if node != nil {
		s.spans[node] = span{line, line}
	}
	return node, state
}

func (s spanned) Continue(node ast.Node, r text.Reader, pc parser.Context) parser.State {
	line, before := r.Position()
	state := s.BlockParser.Continue(node, r, pc)
	_, after := r.Position()
	// A block that closes having read the line, as a fence does, has the line too.
	if state&parser.HasChildren == 0 && (state&parser.Continue != 0 || after.Start > before.Start) {
		own := s.spans[node]
		own.last = line
		s.spans[node] = own
	}
	return state
}
