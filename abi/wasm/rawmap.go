package wasm

// RawMap maps offsets of a normalized text back to its raw bytes. It is a sequence of unsigned
// LEB128 pairs: bytes of text since the previous pair, then how many raw bytes are skipped there.
// A leading BOM is (0, 3); a CRLF is (run up to and including its LF, 1), because that LF stands
// for the CR and the raw LF is what is skipped. A lone CR needs no pair.
type RawMap []byte

// Next decodes the first pair. ok is false when the map is empty or malformed: not in shortest
// form, or beyond 2^31.
func (m RawMap) Next() (text, skip int, rest RawMap, ok bool) {
	text, m, ok = uvarint(m)
	if !ok {
		return 0, 0, nil, false
	}
	skip, m, ok = uvarint(m)
	return text, skip, m, ok
}

// RawOffset is the raw byte offset of the text's byte offset. It counts every skip at or before the
// offset, so a span that ends after a line's LF includes the whole CRLF.
func (m RawMap) RawOffset(offset int) int {
	at, raw := 0, offset
	for {
		text, skip, rest, ok := m.Next()
		if !ok || at+text > offset {
			return raw
		}
		at, raw, m = at+text, raw+skip, rest
	}
}

// AppendPair adds one pair.
func (m RawMap) AppendPair(text, skip int) RawMap {
	return appendUvarint(appendUvarint(m, text), skip)
}

func appendUvarint(b []byte, n int) []byte {
	v := uint(n)
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func uvarint(b []byte) (int, []byte, bool) {
	v := 0
	for i, c := range b {
		if i == 4 && c > 0x07 {
			return 0, nil, false
		}
		v |= int(c&0x7f) << (7 * i)
		if c < 0x80 {
			if c == 0 && i > 0 {
				return 0, nil, false
			}
			return v, b[i+1:], true
		}
	}
	return 0, nil, false
}
