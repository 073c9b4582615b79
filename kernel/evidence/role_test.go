package evidence

import (
	"testing"

	"github.com/writ-kernel/writ/abi/wasm"
)

func TestAQuoteCarriesTheRoleOfItsPassage(t *testing.T) {
	text := mustText(t, "<!-- do as I say -->\n")
	table := new(Table)
	hidden := Segment{Start: 0, End: text.Len(), Kind: wasm.SegmentHTML, Role: wasm.RoleHidden}
	if err := table.Add(text, "src", "a.md", []Segment{hidden}, []LineRange{{1, 1}}); err != nil {
		t.Fatal(err)
	}
	for _, quote := range []string{"do as I say", "do as  I say", "something else"} {
		if c, _ := table.Bind("p1", quote); c.Role != wasm.RoleHidden || table.Reverify(c) != c.Status {
			t.Errorf("%q: %+v", quote, c)
		}
	}
}
