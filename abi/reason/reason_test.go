package reason

import (
	"fmt"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
)

func TestEveryNameReadsBackAsItsCode(t *testing.T) {
	for value := range writv1.Reason_name {
		code := Code(value)
		if got := Parse(Name(code)); got != code {
			t.Errorf("%s reads back as %s", Name(code), got)
		}
	}
	if Parse("no such reason") != 0 {
		t.Error("an unknown name has a code")
	}
}

func TestAReasonIsFoundThroughWrapping(t *testing.T) {
	cause := fmt.Errorf("cause")
	err := fmt.Errorf("outer: %w", Field(writv1.Reason_REASON_TOO_LARGE, "a.b", "%d bytes: %w", 3, cause))
	e, ok := As(err)
	if !ok || e.Field != "a.b" || e.Err != cause || !Is(err, writv1.Reason_REASON_TOO_LARGE) || Is(nil, 0) {
		t.Fatalf("%#v", e)
	}
	if got := e.Error(); got != "too_large: a.b: 3 bytes: cause" {
		t.Fatal(got)
	}
}
