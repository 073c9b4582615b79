package main

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// span is lines first to last, both included.
type span struct{ first, last int }

// blocks is a parsed text.
type blocks struct {
	root  ast.Node
	spans map[ast.Node]span // of every node that a block parser opened
}

// parse runs the block parser. watch, when not nil, stands between the parser and its reader, so
// that a test can count the work.
func parse(lines *columns, watch func(text.Reader) text.Reader) blocks {
	b := blocks{spans: make(map[ast.Node]span)}
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
	b.root = p.Parse(reader)
	return b
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
