package daemon

import (
	"errors"
	"io"
	"testing"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/api/writ/v1/writv1connect"
	"github.com/writ-kernel/writ/host/api"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/policies"
)

func TestAnArtifactIsReadByItsOperationAndOnlyWhileItsSourcesMayBeRead(t *testing.T) {
	m := newMachines(t, policies.Default())(t)
	e := newEffects(0)
	p := m.boot(e)
	defer p.kill(t)
	in := p.input(t, "", 1000)
	op, _ := p.wait(t, e, p.admit(t, "key", in))
	artifacts := writv1connect.NewArtifactsServiceClient(connect.NewClient(connecthttp.NewTransport(p.server.Client(), p.server.URL)))
	fetch := func(sha256 string) (string, error) {
		stream, err := artifacts.ReadArtifact(t.Context(), &writv1.ReadArtifactRequest{OperationId: op.OperationId, Sha256: sha256})
		if err != nil {
			return "", err
		}
		var data []byte
		for {
			chunk, err := stream.Receive()
			if errors.Is(err, io.EOF) {
				return string(data), nil
			}
			if err != nil {
				return "", err
			}
			data = append(data, chunk.Data...)
		}
	}
	refused := func(sha256 string, want writv1.Reason) {
		t.Helper()
		_, err := fetch(sha256)
		if refusal, ok := api.FromConnect(err); !ok || refusal.Code != want {
			t.Fatalf("got %v, want %s", err, want)
		}
	}
	digest := op.Research.Dossier.Sha256
	if text, err := fetch(digest); err != nil || text != op.Research.Text {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	refused(op.InputSha256, writv1.Reason_REASON_NOT_FOUND)

	err := p.store.Update(t.Context(), func(tx store.Tx) error {
		key := record.SourceKey(p.owner, in.Slots[0].Sources[0].SourceId)
		source := new(storev1.Source)
		if _, err := record.Get(tx, key, source); err != nil {
			return err
		}
		source.Read = &storev1.Grant{Revision: source.Read.Revision + 1}
		return record.Put(tx, key, source)
	})
	if err != nil {
		t.Fatal(err)
	}
	refused(digest, writv1.Reason_REASON_READ_NOT_GRANTED)
	hidden, err := p.client.GetOperation(t.Context(), &writv1.GetOperationRequest{OperationId: op.OperationId})
	if err != nil || hidden.Operation.Research != nil || hidden.Operation.Money == nil {
		t.Fatalf("%v %v", hidden, err)
	}
}
