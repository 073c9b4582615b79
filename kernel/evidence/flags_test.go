package evidence

import (
	"reflect"
	"testing"
)

func TestHiddenCodePointsAreFlaggedWithCountsAndRanges(t *testing.T) {
	got := Flags("é\u202ea\u202d\u2066 \u200b\u2060\ufeff\U000e0041\U000e007f\ufe0f\u00ad\u3164\u009b\u2028\u2029\x7f\u0085")
	want := []Flag{
		{FlagBidi, 3, []Span{{1, 2}, {3, 5}}},
		{FlagZeroWidth, 3, []Span{{6, 9}}},
		{FlagTag, 2, []Span{{9, 11}}},
		{FlagVariation, 1, []Span{{11, 12}}},
		{FlagIgnorable, 2, []Span{{12, 14}}},
		{FlagControl, 5, []Span{{14, 19}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
	if f := Flags("Plain text, naïve “quotes”, 한글, ﬁ, \u00a0 and e\u0301.\n\t\f"); f != nil {
		t.Fatalf("plain text is flagged: %+v", f)
	}
}
