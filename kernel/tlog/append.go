package tlog

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
	"google.golang.org/protobuf/proto"

	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// Entry is what a leaf says: something of this kind happened to this subject, whose record had this
// digest.
type Entry struct {
	Kind    string // for example operation.admitted
	Owner   string
	Subject string // ID of the row
	SHA256  string // digest of the row's stored bytes
}

// Append adds one leaf and returns its index.
func Append(tx store.Tx, e Entry) (int64, error) {
	var meta storev1.Store
	if ok, err := record.Get(tx, record.StoreKey, &meta); err != nil || !ok {
		return 0, fmt.Errorf("log: store row: present=%v: %w", ok, err)
	}
	size, err := Size(tx)
	if err != nil {
		return 0, err
	}
	leaf := &storev1.Leaf{
		Index: size, Kind: e.Kind, Owner: e.Owner, Subject: e.Subject, Sha256: e.SHA256, AtUs: tx.Now(),
		Salt: salt(meta.LeafKey, size),
	}
	commitment, err := Commitment(leaf)
	if err != nil {
		return 0, err
	}
	hashes, err := tlog.StoredHashesForRecordHash(size, tlog.RecordHash(commitment), hashReader{tx})
	if err != nil {
		return 0, err
	}
	first := tlog.StoredHashIndex(0, size)
	for i, h := range hashes {
		if err := record.Put(tx, record.TreeHashKey(first+int64(i)), &storev1.TreeHash{Sha256: h[:]}); err != nil {
			return 0, err
		}
	}
	if err := record.Put(tx, record.LeafKey(size), leaf); err != nil {
		return 0, err
	}
	return size, record.Put(tx, record.TreeKey, &storev1.TreeHead{Size: size + 1})
}

// AppendRecord adds one leaf about a stored message.
func AppendRecord(tx store.Tx, kind, owner, subject string, m proto.Message) (int64, error) {
	digest, err := record.Digest(m)
	if err != nil {
		return 0, err
	}
	return Append(tx, Entry{Kind: kind, Owner: owner, Subject: subject, SHA256: digest})
}

// Size is the number of leaves.
func Size(r store.Reader) (int64, error) {
	var head storev1.TreeHead
	if _, err := record.Get(r, record.TreeKey, &head); err != nil {
		return 0, err
	}
	return head.Size, nil
}

// Root is the Merkle tree hash over every leaf.
func Root(r store.Reader) (size int64, root tlog.Hash, err error) {
	size, err = Size(r)
	if err != nil {
		return 0, tlog.Hash{}, err
	}
	root, err = tlog.TreeHash(size, hashReader{r})
	return size, root, err
}

// Leaf reads one leaf.
func Leaf(r store.Reader, index int64) (*storev1.Leaf, bool, error) {
	leaf := new(storev1.Leaf)
	ok, err := record.Get(r, record.LeafKey(index), leaf)
	return leaf, ok, err
}

// Commitment is the record that enters the tree: SHA-256 over the salt and the entry.
func Commitment(leaf *storev1.Leaf) ([]byte, error) {
	open := proto.Clone(leaf).(*storev1.Leaf)
	open.Salt = nil
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(open)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(append(append([]byte("writ-leaf/1\n"), leaf.Salt...), raw...))
	return sum[:], nil
}

// salt derives a leaf's salt from a store secret, because transitions have no randomness of their own.
func salt(key []byte, index int64) []byte {
	mac := hmac.New(sha256.New, key)
	_ = binary.Write(mac, binary.BigEndian, index)
	return mac.Sum(nil)
}

type hashReader struct{ r store.Reader }

func (h hashReader) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		var row storev1.TreeHash
		ok, err := record.Get(h.r, record.TreeHashKey(index), &row)
		if err != nil {
			return nil, err
		}
		if !ok || len(row.Sha256) != len(out[i]) {
			return nil, fmt.Errorf("log: tree hash %d is missing", index)
		}
		copy(out[i][:], row.Sha256)
	}
	return out, nil
}
