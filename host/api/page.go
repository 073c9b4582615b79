package api

import (
	"bytes"
	"encoding/base64"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/store"
)

const (
	defaultPage = 50
	maxPage     = 200
)

// pageMark begins every token, so that what is not one of ours is refused and not taken for a place
// behind the last row.
var pageMark = []byte{0x77, 0x01}

// page is one window on a key range. Its token is the first key of the next page, so that rows which
// appear or vanish meanwhile neither repeat nor hide others.
type page struct {
	from, prefix []byte
	size         int
}

func pageOf(size uint32, token string, prefix []byte) (page, error) {
	p := page{from: prefix, prefix: prefix, size: defaultPage}
	if size > maxPage {
		return p, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "page_size", "%d, at most %d are allowed", size, maxPage)
	}
	if size > 0 {
		p.size = int(size)
	}
	if token == "" {
		return p, nil
	}
	rest, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || !bytes.HasPrefix(rest, pageMark) {
		return p, reason.Field(writv1.Reason_REASON_INVALID_INPUT, "page_token", "not a token of this list")
	}
	p.from = append(bytes.Clone(prefix), rest[len(pageMark):]...)
	return p, nil
}

// walk calls fn for the keys of this page and sets the next page's token when there is one.
func (p page) walk(r store.Reader, next *string, fn func(key []byte) error) error {
	count := 0
	return r.Scan(p.from, store.PrefixEnd(p.prefix), func(key, _ []byte) error {
		if count == p.size {
			*next = base64.RawURLEncoding.EncodeToString(append(bytes.Clone(pageMark), key[len(p.prefix):]...))
			return store.ErrStop
		}
		count++
		return fn(key)
	})
}
