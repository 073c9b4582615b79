package section

import "unicode/utf8"

// reader decodes the binary format. After the first fault it is bad and yields zero values.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) byte() byte {
	b := r.bytes(1)
	if r.bad {
		return 0
	}
	return b[0]
}

func (r *reader) bytes(n uint32) []byte {
	if r.bad || uint64(n) > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) u32() uint32 {
	var v uint32
	for i := range 5 {
		c := r.byte()
		if r.bad || (i == 4 && c > 0x0f) {
			r.bad = true
			return 0
		}
		v |= uint32(c&0x7f) << (7 * i)
		if c < 0x80 {
			break
		}
	}
	return v
}

// skipLEB passes a LEB128 number of at most ten bytes.
func (r *reader) skipLEB() {
	for range 10 {
		if r.byte() < 0x80 {
			return
		}
	}
	r.bad = true
}

func (r *reader) name() string {
	b := r.bytes(r.u32())
	if !utf8.Valid(b) {
		r.bad = true
	}
	return string(b)
}

func (r *reader) imports() []Import {
	var all []Import
	for n := r.u32(); n > 0 && !r.bad; n-- {
		i := Import{Module: r.name(), Name: r.name()}
		switch r.byte() {
		case 0:
			i.Kind = "func"
			r.skipLEB()
		case 1:
			i.Kind = "table"
			r.byte()
			r.limits()
		case 2:
			i.Kind = "memory"
			r.limits()
		case 3:
			i.Kind = "global"
			r.byte()
			r.byte()
		default:
			r.bad = true
		}
		all = append(all, i)
	}
	if len(r.b) > 0 {
		r.bad = true
	}
	return all
}

func (r *reader) limits() {
	flags := r.byte()
	r.skipLEB()
	if flags&1 != 0 {
		r.skipLEB()
	}
}
