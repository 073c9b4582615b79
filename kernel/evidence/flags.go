package evidence

import "github.com/writ-kernel/writ/abi/visible"

// Kinds of flags, in the order in which Flags reports them.
const (
	FlagBidi      = visible.Bidi
	FlagZeroWidth = visible.ZeroWidth
	FlagTag       = visible.Tag
	FlagVariation = visible.Variation
	FlagIgnorable = visible.Ignorable
	FlagControl   = visible.Control
)

var flagKinds = []string{FlagBidi, FlagZeroWidth, FlagTag, FlagVariation, FlagIgnorable, FlagControl}

// Flag reports one kind: how many code points, and where they stand.
type Flag struct {
	Kind   string `json:"kind"`
	Count  int    `json:"count"`
	Ranges []Span `json:"ranges"` // code points of the text, in order, adjoining ones made one
}

// Flags finds what a person should be told about s. The text itself is kept as it is.
func Flags(s string) []Flag {
	found := map[string]*Flag{}
	at := 0
	for _, r := range s {
		if kind := visible.Kind(r); kind != "" {
			f := found[kind]
			if f == nil {
				f = &Flag{Kind: kind}
				found[kind] = f
			}
			f.Count++
			if n := len(f.Ranges); n > 0 && f.Ranges[n-1].End == at {
				f.Ranges[n-1].End++
			} else {
				f.Ranges = append(f.Ranges, Span{at, at + 1})
			}
		}
		at++
	}
	var out []Flag
	for _, kind := range flagKinds {
		if f := found[kind]; f != nil {
			out = append(out, *f)
		}
	}
	return out
}

const softHyphen = '\u00ad'

// invisible reports a code point that shows nothing of its own and is no control.
func invisible(r rune) bool {
	kind := visible.Kind(r)
	return kind != "" && kind != FlagControl
}
