package record

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/store"
)

// Format is the store format this binary reads and writes.
const Format = 1

// Get reads one row into m and reports whether it exists.
func Get(r store.Reader, key []byte, m proto.Message) (bool, error) {
	raw, err := r.Get(key)
	if err != nil || raw == nil {
		return false, err
	}
	return true, decode(key, raw, m)
}

// Put writes one row.
func Put(tx store.Tx, key []byte, m proto.Message) error {
	raw, err := encode(m)
	if err != nil {
		return fmt.Errorf("record %s: %w", key, err)
	}
	return tx.Set(key, raw)
}

// Each decodes every row below the prefix into a fresh message, in key order, until fn returns an
// error; store.ErrStop ends it early.
func Each[M any, P interface {
	*M
	proto.Message
}](r store.Reader, prefix []byte, fn func(m P) error) error {
	return EachFrom(r, prefix, prefix, fn)
}

// EachFrom is Each, starting at a key inside the prefix.
func EachFrom[M any, P interface {
	*M
	proto.Message
}](r store.Reader, from, prefix []byte, fn func(m P) error) error {
	return r.Scan(from, store.PrefixEnd(prefix), func(k, v []byte) error {
		m := P(new(M))
		if err := decode(k, v, m); err != nil {
			return err
		}
		return fn(m)
	})
}

// Digest is the SHA-256 of a message's stored bytes.
func Digest(m proto.Message) (string, error) {
	raw, err := encode(m)
	if err != nil {
		return "", err
	}
	return canon.Digest(raw), nil
}

// A stored value is one byte that names the encoding, then the message. The byte also keeps a message
// of all defaults from being an empty value.
const encoding = 1

func encode(m proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.MarshalAppend([]byte{encoding}, m)
}

func decode(key, raw []byte, m proto.Message) error {
	if len(raw) == 0 || raw[0] != encoding {
		return reason.New(writv1.Reason_REASON_STORE_FORMAT, "row %s has an encoding that this binary does not know", key).
			WithNext("use the Writ version that wrote this store, or a newer one")
	}
	if err := proto.Unmarshal(raw[1:], m); err != nil {
		return fmt.Errorf("record %s: %w", key, err)
	}
	return nil
}
