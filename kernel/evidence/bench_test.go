package evidence

import (
	"strings"
	"testing"
)

func BenchmarkNewText64KiB(b *testing.B) {
	raw := []byte(strings.Repeat("a line of ordinary text with an é in it\r\n", 64<<10/43))
	text, rawMap, _ := naive(raw)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := NewText(raw, text, rawMap); err != nil {
			b.Fatal(err)
		}
	}
}

// The dearest answer: both foldings of the largest excerpt, and nothing found.
func BenchmarkBindAbsentIn4KiB(b *testing.B) {
	table, _ := tableOf(b, strings.Repeat("some “words” of é source; ", 4<<10/30))
	for b.Loop() {
		if _, verdict := table.Bind("p1", "words that do not stand in the source"); verdict != VerdictAbsent {
			b.Fatal(verdict)
		}
	}
}
