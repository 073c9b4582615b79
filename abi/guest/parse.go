package guest

import "unicode/utf8"

// parse reads the request header. It takes the members it knows and skips all others, because the
// host adds fields that no module knows on purpose.
func (r *Request) parse(header []byte) bool {
	s := scanner{b: header}
	return s.object(0, func(name string) bool {
		switch name {
		case "abi":
			return s.str(&r.ABI)
		case "kind":
			return s.str(&r.Kind)
		case "op":
			return s.str(&r.Op)
		case "media_type":
			return s.str(&r.MediaType)
		case "limits":
			return s.object(1, func(name string) bool {
				switch name {
				case "memory_bytes":
					return s.integer(&r.Limits.MemoryBytes)
				case "output_bytes":
					return s.integer(&r.Limits.OutputBytes)
				case "log_bytes":
					return s.integer(&r.Limits.LogBytes)
				case "wall_ms":
					return s.integer(&r.Limits.WallMillis)
				}
				return s.skip(2)
			})
		}
		return s.skip(1)
	}) && s.space() == 0 && s.at == len(s.b)
}

const maxDepth = 32

type scanner struct {
	b  []byte
	at int
}

// space passes white space and returns the byte that follows, or 0 at the end.
func (s *scanner) space() byte {
	for ; s.at < len(s.b); s.at++ {
		switch c := s.b[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) take(c byte) bool {
	if s.space() != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) object(depth int, member func(name string) bool) bool {
	if depth > maxDepth || !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		var name string
		if !s.str(&name) || !s.take(':') || !member(name) {
			return false
		}
		if s.take('}') {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

func (s *scanner) skip(depth int) bool {
	if depth > maxDepth {
		return false
	}
	var text string
	switch s.space() {
	case '"':
		return s.str(&text)
	case '{':
		return s.object(depth, func(string) bool { return s.skip(depth + 1) })
	case '[':
		s.at++
		if s.take(']') {
			return true
		}
		for s.skip(depth + 1) {
			if s.take(']') {
				return true
			}
			if !s.take(',') {
				return false
			}
		}
		return false
	}
	// A number, true, false or null; the host writes valid JSON, so its end is all that matters.
	from := s.at
	for s.at < len(s.b) {
		c := s.b[s.at]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '+' && c != '-' && c != '.' && c != 'E' {
			break
		}
		s.at++
	}
	return s.at > from
}

func (s *scanner) integer(n *int64) bool {
	s.space()
	from := s.at
	for *n = 0; s.at < len(s.b) && s.b[s.at] >= '0' && s.b[s.at] <= '9' && s.at-from < 16; s.at++ {
		*n = *n*10 + int64(s.b[s.at]-'0')
	}
	return s.at > from
}

func (s *scanner) str(out *string) bool {
	if !s.take('"') {
		return false
	}
	var text []byte
	for s.at < len(s.b) {
		c := s.b[s.at]
		s.at++
		switch {
		case c == '"':
			*out = string(text)
			return true
		case c < 0x20:
			return false
		case c != '\\':
			text = append(text, c)
			continue
		}
		if s.at == len(s.b) {
			return false
		}
		c = s.b[s.at]
		s.at++
		switch c {
		case '"', '\\', '/':
			text = append(text, c)
		case 'b':
			text = append(text, '\b')
		case 'f':
			text = append(text, '\f')
		case 'n':
			text = append(text, '\n')
		case 'r':
			text = append(text, '\r')
		case 't':
			text = append(text, '\t')
		case 'u':
			// Values the SDK reads are ASCII tokens; a surrogate can only stand in a field that
			// is skipped, where its exact value does not matter.
			r, ok := s.hex4()
			if !ok {
				return false
			}
			text = utf8.AppendRune(text, r)
		default:
			return false
		}
	}
	return false
}

func (s *scanner) hex4() (rune, bool) {
	if len(s.b)-s.at < 4 {
		return 0, false
	}
	var r rune
	for _, c := range s.b[s.at : s.at+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	s.at += 4
	return r, true
}
