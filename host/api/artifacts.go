package api

import (
	"context"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/api/writ/v1/writv1connect"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/artifact"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/operation"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

const chunkBytes = 32 << 10

type artifacts struct{ Config }

var _ writv1connect.ArtifactsServiceHandler = (*artifacts)(nil)

// ReadArtifact streams one adopted output of an operation. The right to see an operation does not
// imply the right to read its sources: that is checked now.
func (s *artifacts) ReadArtifact(ctx context.Context, req *writv1.ReadArtifactRequest, stream writv1connect.ArtifactsServiceReadArtifactServerStream) error {
	row, err := store.Read(ctx, s.Store, func(r store.Reader) (*storev1.Materialization, error) {
		return s.find(r, req)
	})
	if err != nil {
		return err
	}
	data, err := s.Files.Read(s.Owner, row.Sha256, int(row.MaxBytes))
	if err != nil {
		return err
	}
	for start := 0; start < len(data); start += chunkBytes {
		chunk := data[start:min(start+chunkBytes, len(data))]
		if err := stream.Send(&writv1.ReadArtifactResponse{Data: chunk}); err != nil {
			return err
		}
	}
	return nil
}

func (s *artifacts) find(r store.Reader, req *writv1.ReadArtifactRequest) (*storev1.Materialization, error) {
	op, err := operation.Get(r, s.Owner, req.OperationId)
	if err != nil {
		return nil, err
	}
	parent, err := operation.Job(r, op.ParentJob)
	if err != nil {
		return nil, err
	}
	if err := guard.Readable(r, s.Owner, parent.Sources); err != nil {
		return nil, err
	}
	rows, err := artifact.Of(r, op.Id)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if artifact.Adopted(row) && row.Sha256 == req.Sha256 {
			return row, nil
		}
	}
	return nil, reason.Field(writv1.Reason_REASON_NOT_FOUND, "sha256", "operation %s has no such artifact", op.Id)
}
