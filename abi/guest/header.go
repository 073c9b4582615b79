package guest

import "unicode/utf8"

const maxDetail = 512

func resultHeader(req Request, fields []Field) []byte {
	all := append([]Field{String("abi", abi), String("kind", req.Kind), String("op", req.Op)}, fields...)
	return appendObject(make([]byte, 0, 256), all)
}

func errorHeader(req Request, e *Error) []byte {
	inner := []Field{String("code", e.Code)}
	if e.Detail != "" {
		inner = append(inner, String("detail", clip(e.Detail)))
	}
	if e.Offset >= 0 {
		inner = append(inner, Int("offset", e.Offset))
	}
	body := appendObject(nil, inner)
	return appendObject(nil, []Field{
		String("abi", abi),
		{"error", string(body[:len(body)-1])},
		String("kind", req.Kind),
		String("op", req.Op),
	})
}

func clip(s string) string {
	if len(s) <= maxDetail {
		return s
	}
	end := maxDetail
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// appendObject writes the fields as one canonical JSON object and a final LF. Field names are ASCII,
// so byte order is RFC 8785's order.
func appendObject(b []byte, fields []Field) []byte {
	for i := 1; i < len(fields); i++ {
		for j := i; j > 0 && fields[j].name < fields[j-1].name; j-- {
			fields[j], fields[j-1] = fields[j-1], fields[j]
		}
	}
	b = append(b, '{')
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, f.name)
		b = append(b, ':')
		b = append(b, f.json...)
	}
	return append(b, '}', '\n')
}

// appendString writes s as RFC 8785 does: only quotes, backslashes and controls are escaped. Invalid
// UTF-8 becomes U+FFFD; headers hold no source text, so nothing is lost that could be evidence.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\b':
			b = append(b, '\\', 'b')
		case r == '\t':
			b = append(b, '\\', 't')
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\f':
			b = append(b, '\\', 'f')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

func itoa(n int64) string {
	var buf [20]byte
	at, v := len(buf), uint64(n)
	if n < 0 {
		v = -v
	}
	for {
		at--
		buf[at] = byte('0' + v%10)
		if v /= 10; v == 0 {
			break
		}
	}
	if n < 0 {
		at--
		buf[at] = '-'
	}
	return string(buf[at:])
}
