package main

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"
)

const (
	// maxFrontMatter is how many bytes may stand before the closing line.
	maxFrontMatter = 32 << 10
	// Bounds on YAML nesting, checked before the YAML parser recurses: columns of indentation,
	// markers that open a level within one line, and brackets open at once.
	maxYAMLIndent   = 64
	maxYAMLMarkers  = 16
	maxYAMLBrackets = 32
)

// frontMatter is the size of the front matter at the start of text, both "---" lines included, or
// 0. rejected says why text that is fenced like front matter is not taken for it; an opening line
// that is a plain thematic break is no reason to say anything.
func frontMatter(text []byte) (size int, rejected string) {
	const fence = "---\n"
	if !bytes.HasPrefix(text, []byte(fence)) {
		return 0, ""
	}
	inside, end := closing(text[len(fence):])
	if end < 0 {
		return 0, ""
	}
	if len(inside) > maxFrontMatter {
		return 0, "closing line is too far"
	}
	if !shallow(inside) {
		return 0, "nests too deep"
	}
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(inside))
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return 0, ""
	} else if err != nil {
		return 0, "not YAML"
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return 0, "more than one YAML document"
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return 0, ""
	}
	if named(&doc) {
		return 0, "anchors and aliases are not allowed"
	}
	return len(fence) + end, ""
}

// closing finds the first line that is exactly "---": what stands before it, and the offset behind
// it, or -1.
func closing(text []byte) (inside []byte, end int) {
	for at := 0; at < len(text); {
		next := len(text)
		if lf := bytes.IndexByte(text[at:], '\n'); lf >= 0 {
			next = at + lf + 1
		}
		if string(bytes.TrimSuffix(text[at:next], []byte("\n"))) == "---" {
			return text[:at], next
		}
		at = next
	}
	return nil, -1
}

// shallow reports whether YAML text is certain to nest little. Brackets in quoted words count too,
// which errs on the safe side.
func shallow(text []byte) bool {
	brackets := 0
	for line := range bytes.Lines(text) {
		content := bytes.TrimLeft(line, " ")
		markers := 0
		for at, c := range content {
			switch c {
			case '[', '{':
				brackets++
			case ']', '}':
				brackets = max(0, brackets-1)
			case '-', '?', ':':
				if at+1 == len(content) || content[at+1] == ' ' || content[at+1] == '\t' || content[at+1] == '\n' {
					markers++
				}
			}
			if brackets > maxYAMLBrackets {
				return false
			}
		}
		if len(line)-len(content) > maxYAMLIndent && len(bytes.TrimSpace(content)) > 0 || markers > maxYAMLMarkers {
			return false
		}
	}
	return true
}

func named(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return true
	}
	for _, child := range n.Content {
		if named(child) {
			return true
		}
	}
	return false
}
