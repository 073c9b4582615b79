package policies

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// maxDepth is more than twice what the deepest setting needs.
const maxDepth = 8

// yamlToJSON reduces YAML to the plain tree that JSON can say, so that one strict decoder serves
// both. Anchors, aliases, merge keys, tags, null, fractions and sequences have no meaning in a
// policy and are refused here; with them goes every way to make a small file large.
func yamlToJSON(file []byte) ([]byte, error) {
	dec := yaml.NewDecoder(bytes.NewReader(file))
	var doc yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return []byte("{}"), nil
	}
	if err != nil {
		return nil, reason.New(writv1.Reason_REASON_INVALID_INPUT, "policy file: %w", err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, reason.New(writv1.Reason_REASON_INVALID_INPUT, "the policy file holds more than one document")
	}
	if len(doc.Content) != 1 {
		return nil, reason.New(writv1.Reason_REASON_INVALID_INPUT, "the policy file holds no settings")
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" && root.Value == "" {
		return []byte("{}"), nil // "---" and nothing else
	}
	if root.Kind != yaml.MappingNode {
		return nil, refuse(root, "", "the policy file is not a mapping of settings")
	}
	return appendNode(nil, root, "", 0)
}

func appendNode(out []byte, n *yaml.Node, path string, depth int) ([]byte, error) {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return nil, refuse(n, path, "anchors and aliases are not allowed")
	case n.Style&yaml.TaggedStyle != 0:
		return nil, refuse(n, path, "tags are not allowed")
	case n.Kind == yaml.MappingNode:
		return appendMapping(out, n, path, depth)
	case n.Kind == yaml.ScalarNode:
		return appendScalar(out, n, path)
	}
	return nil, refuse(n, path, "no setting is a list")
}

func appendMapping(out []byte, n *yaml.Node, path string, depth int) ([]byte, error) {
	if depth == maxDepth {
		return nil, refuse(n, path, "nested too deeply")
	}
	out = append(out, '{')
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" || key.Anchor != "" || key.Style&yaml.TaggedStyle != 0 {
			return nil, refuse(key, path, "a key is not plain text")
		}
		field := join(path, key.Value)
		if seen[key.Value] {
			return nil, reason.Field(writv1.Reason_REASON_DUPLICATE_FIELD, field, "line %d: given twice", key.Line)
		}
		seen[key.Value] = true
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendString(out, key.Value, key, field); err != nil {
			return nil, err
		}
		out = append(out, ':')
		if out, err = appendNode(out, value, field, depth+1); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendScalar(out []byte, n *yaml.Node, path string) ([]byte, error) {
	switch n.ShortTag() {
	case "!!str":
		return appendString(out, n.Value, n, path)
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return nil, refuse(n, path, "not a truth value")
		}
		return strconv.AppendBool(out, b), nil
	case "!!int":
		var i int64
		if err := n.Decode(&i); err != nil {
			return nil, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, path, "line %d: the number does not fit", n.Line)
		}
		return strconv.AppendInt(out, i, 10), nil
	case "!!null":
		return nil, refuse(n, path, "no value given")
	case "!!float":
		return nil, refuse(n, path, "numbers are whole")
	}
	return nil, refuse(n, path, "neither text, a whole number nor a truth value")
}

func appendString(out []byte, s string, n *yaml.Node, path string) ([]byte, error) {
	out, err := jsontext.AppendQuote(out, s)
	if err != nil {
		return nil, refuse(n, path, "not valid UTF-8")
	}
	return out, nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func refuse(n *yaml.Node, path, why string) error {
	return reason.Field(writv1.Reason_REASON_INVALID_INPUT, path, "line %d: %s", n.Line, why)
}
