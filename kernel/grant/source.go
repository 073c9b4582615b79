package grant

import (
	"google.golang.org/protobuf/proto"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/kernel/tlog"
)

// Import is one source as the host prepared it: bytes stored and verified, text normalized.
type Import struct {
	Source *storev1.Source // without grants and times
	Read   bool            // grant permission to read
	Egress bool            // give consent to send it to a model
}

// ImportSource records a source, or finds the same bytes under the same name again. A permission that
// is asked for is granted if it is not; one that is not asked for is left as it is.
func ImportSource(tx store.Tx, in Import) (*storev1.Source, error) {
	s, changed, err := imported(tx, in, tx.Now())
	if err != nil || !changed {
		return s, err
	}
	if err := record.Put(tx, record.SourceKey(s.Owner, s.Id), s); err != nil {
		return nil, err
	}
	_, err = tlog.AppendRecord(tx, "source.granted", s.Owner, s.Id, s)
	return s, err
}

// Foresee is the source that ImportSource would give. It records nothing.
func Foresee(r store.Reader, in Import) (*storev1.Source, error) {
	s, _, err := imported(r, in, 0)
	return s, err
}

func imported(r store.Reader, in Import, now int64) (s *storev1.Source, changed bool, err error) {
	s = new(storev1.Source)
	ok, err := record.Get(r, record.SourceKey(in.Source.Owner, in.Source.Id), s)
	if err != nil {
		return nil, false, err
	}
	if !ok {
		s, changed = proto.Clone(in.Source).(*storev1.Source), true
		s.CreatedUs, s.Read, s.Egress = now, &storev1.Grant{}, &storev1.Grant{}
	} else if s.TextSha256 != in.Source.TextSha256 || s.Normalizer != in.Source.Normalizer {
		return nil, false, reason.New(writv1.Reason_REASON_ARTIFACT_MISMATCH, "source %s was normalized to another text before", s.Id)
	}
	for _, p := range []struct {
		asked bool
		grant *storev1.Grant
	}{{in.Read, s.Read}, {in.Egress, s.Egress}} {
		if p.asked && !p.grant.GetGranted() {
			p.grant.Granted, p.grant.Revision, changed = true, p.grant.Revision+1, true
		}
	}
	return s, changed, nil
}

// Source reads one source of an owner.
func Source(r store.Reader, owner, id string) (*storev1.Source, error) {
	s := new(storev1.Source)
	ok, err := record.Get(r, record.SourceKey(owner, id), s)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, reason.Field(writv1.Reason_REASON_NOT_FOUND, "source_id", "source %.64q does not exist", id)
	}
	return s, nil
}
