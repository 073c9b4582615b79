package main

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// htmlBlock opens and ends HTML blocks by the seven conditions of CommonMark 0.31. goldmark's own
// parser knows declarations in capitals only, no tab after a tag name and no block that a lone
// closing script tag opens.
type htmlBlock struct{}

const (
	htmlRaw         = iota + 1 // script, pre, style, textarea
	htmlComment                // <!--
	htmlInstruction            // <?
	htmlDeclaration            // <!X
	htmlCDATA                  // <![CDATA[
	htmlTag                    // a block-level tag
	htmlAnyTag                 // any one whole tag, alone on its line
)

func (htmlBlock) Trigger() []byte             { return []byte{'<'} }
func (htmlBlock) CanInterruptParagraph() bool { return true }
func (htmlBlock) CanAcceptIndentedLine() bool { return false }

func (htmlBlock) Close(ast.Node, text.Reader, parser.Context) {}

func (htmlBlock) Open(_ ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := r.PeekLine()
	kind := htmlStart(bytes.TrimRight(bytes.TrimLeft(line, " "), "\n"))
	if kind == 0 || kind == htmlAnyTag && ast.IsParagraph(pc.LastOpenedBlock().Node) {
		return nil, parser.NoChildren
	}
	node := ast.NewHTMLBlock(ast.HTMLBlockType(kind))
	node.Lines().Append(segment)
	if htmlEnd(kind, line) {
		node.ClosureLine = segment
	}
	r.AdvanceToEOL()
	return node, parser.NoChildren
}

func (htmlBlock) Continue(node ast.Node, r text.Reader, _ parser.Context) parser.State {
	block := node.(*ast.HTMLBlock)
	line, segment := r.PeekLine()
	kind := int(block.HTMLBlockType)
	if closed(block) || kind >= htmlTag && isBlank(line) {
		return parser.Close
	}
	block.Lines().Append(segment)
	r.AdvanceToEOL()
	if htmlEnd(kind, line) {
		block.ClosureLine = segment
		return parser.Close
	}
	return parser.Continue | parser.NoChildren
}

func closed(block *ast.HTMLBlock) bool { return block.ClosureLine.Stop > block.ClosureLine.Start }

// htmlEnd reports whether the line holds what ends a block of that kind. The last two kinds end at
// a blank line instead.
func htmlEnd(kind int, line []byte) bool {
	switch kind {
	case htmlRaw:
		for at := bytes.Index(line, []byte("</")); at >= 0; {
			name, rest := tagName(line[at+2:])
			if rawTags[name] && len(rest) > 0 && rest[0] == '>' {
				return true
			}
			next := bytes.Index(line[at+2:], []byte("</"))
			if next < 0 {
				return false
			}
			at += 2 + next
		}
		return false
	case htmlComment:
		return bytes.Contains(line, []byte("-->"))
	case htmlInstruction:
		return bytes.Contains(line, []byte("?>"))
	case htmlDeclaration:
		return bytes.IndexByte(line, '>') >= 0
	case htmlCDATA:
		return bytes.Contains(line, []byte("]]>"))
	}
	return false
}

// htmlStart is the kind of HTML block that a line opens, or 0. The line has no leading space and no
// LF.
func htmlStart(line []byte) int {
	if len(line) < 2 || line[0] != '<' {
		return 0
	}
	switch {
	case bytes.HasPrefix(line, []byte("<!--")):
		return htmlComment
	case line[1] == '?':
		return htmlInstruction
	case bytes.HasPrefix(line, []byte("<![CDATA[")):
		return htmlCDATA
	case line[1] == '!':
		if len(line) > 2 && isLetter(line[2]) {
			return htmlDeclaration
		}
		return 0
	}
	closing := line[1] == '/'
	inner := line[1:]
	if closing {
		inner = line[2:]
	}
	name, rest := tagName(inner)
	stops := len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '>'
	switch {
	case name == "":
		return 0
	case rawTags[name] && !closing:
		if stops {
			return htmlRaw
		}
		return 0
	case blockTags[name] && (stops || bytes.HasPrefix(rest, []byte("/>"))):
		return htmlTag
	}
	if !closing {
		rest = attributes(rest)
	}
	rest = bytes.TrimLeft(rest, " \t")
	if !closing && len(rest) > 0 && rest[0] == '/' {
		rest = rest[1:]
	}
	if len(rest) > 0 && rest[0] == '>' && len(bytes.Trim(rest[1:], " \t")) == 0 {
		return htmlAnyTag
	}
	return 0
}

// tagName is the lower-case name that b starts with, and what follows it.
func tagName(b []byte) (name string, rest []byte) {
	end := 0
	for end < len(b) && (isLetter(b[end]) || end > 0 && (b[end] >= '0' && b[end] <= '9' || b[end] == '-')) {
		end++
	}
	return strings.ToLower(string(b[:end])), b[end:]
}

// attributes is what follows the attributes that b starts with.
func attributes(b []byte) []byte {
	for {
		at := skipSpaces(b, 0)
		if at == 0 || at == len(b) || !isLetter(b[at]) && b[at] != '_' && b[at] != ':' {
			return b
		}
		for at < len(b) && (isLetter(b[at]) || b[at] >= '0' && b[at] <= '9' || bytes.IndexByte([]byte("_.:-"), b[at]) >= 0) {
			at++
		}
		equals := skipSpaces(b, at)
		if equals == len(b) || b[equals] != '=' {
			b = b[at:]
			continue
		}
		size := attributeValue(b[skipSpaces(b, equals+1):])
		if size == 0 {
			return b
		}
		b = b[skipSpaces(b, equals+1)+size:]
	}
}

// attributeValue is the size of the attribute value that b starts with, or 0.
func attributeValue(b []byte) int {
	if len(b) > 0 && (b[0] == '"' || b[0] == '\'') {
		if end := bytes.IndexByte(b[1:], b[0]); end >= 0 {
			return end + 2
		}
		return 0
	}
	if end := bytes.IndexAny(b, " \t\"'=<>`"); end >= 0 {
		return end
	}
	return len(b)
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

var rawTags = set("script pre style textarea")

var blockTags = set(`address article aside base basefont blockquote body caption center col colgroup
	dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4
	h5 h6 head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup
	option p param search section summary table tbody td tfoot th thead title tr track ul`)

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
