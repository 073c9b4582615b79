package wasm

import "testing"

func TestLinesCountsLineEndsAndALastPiece(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\nb": 2, "\n\n": 2, "a\r\vb\u2028c": 1} {
		if got := Lines([]byte(text)); got != want {
			t.Errorf("%q has %d lines", text, got)
		}
	}
}

func TestRawOffsetCountsEverySkipAtOrBeforeTheOffset(t *testing.T) {
	// BOM, "a" CRLF "b" CRLF CRLF: text "a\nb\n\n".
	m := RawMap(nil).AppendPair(0, 3).AppendPair(2, 1).AppendPair(2, 1).AppendPair(1, 1)
	for offset, want := range []int{3, 4, 6, 7, 9, 11} {
		if got := m.RawOffset(offset); got != want {
			t.Errorf("%d maps to %d, not %d", offset, got, want)
		}
	}
	if got := RawMap(nil).RawOffset(5); got != 5 {
		t.Errorf("without a map 5 is %d", got)
	}
}

func TestPairsReadBackAndOnlyTheShortestFormIsRead(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 300, 16383, 16384, 1<<31 - 1} {
		text, skip, rest, ok := RawMap(nil).AppendPair(n, 1).Next()
		if !ok || text != n || skip != 1 || len(rest) != 0 {
			t.Errorf("%d reads back as %d, %d, %t", n, text, skip, ok)
		}
	}
	for _, bad := range []string{"", "\x01", "\x80", "\x80\x00\x01", "\x01\x80", "\xff\xff\xff\xff\x08\x01", "\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"} {
		if _, _, _, ok := RawMap(bad).Next(); ok {
			t.Errorf("%q is read", bad)
		}
	}
}

func FuzzRawMap(f *testing.F) {
	f.Add([]byte("\x00\x03\x02\x01"), 5)
	f.Fuzz(func(t *testing.T, m []byte, offset int) {
		if offset >= 0 && offset < 1<<30 && RawMap(m).RawOffset(offset) < offset {
			t.Fatal("a raw offset lies before its text offset")
		}
	})
}
