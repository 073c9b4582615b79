package client

import (
	"context"
	"errors"
	"net"
	"net/http"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/api/writ/v1/writv1connect"
	"github.com/writ-kernel/writ/host/api"
	"github.com/writ-kernel/writ/host/daemon"
)

// Client holds one typed client for each service of the operator API that commands use.
type Client struct {
	Operations writv1connect.OperationsServiceClient
	Sources    writv1connect.SourcesServiceClient

	transport *http.Transport
}

// Dial checks the data directory as its holder does and makes sure that someone answers. An error
// for which daemon.Unserved reports true means that no process serves it.
func Dial(ctx context.Context, dataDir string) (*Client, error) {
	dir, err := daemon.CheckDataDir(dataDir)
	if err != nil {
		return nil, err
	}
	probe, err := daemon.DialSocket(ctx, dir)
	if err != nil {
		return nil, err
	}
	probe.Close()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return daemon.DialSocket(ctx, dir)
		},
		DisableCompression: true,
	}
	rpc := connect.NewClient(connecthttp.NewTransport(&http.Client{Transport: transport}, "http://writ"))
	return &Client{
		Operations: writv1connect.NewOperationsServiceClient(rpc),
		Sources:    writv1connect.NewSourcesServiceClient(rpc),
		transport:  transport,
	}, nil
}

// Close drops idle connections. Calls that still run are the caller's to end.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Lost reports that a call ended because the serving process went away or was about to, so that the
// same call, with the same idempotency key, belongs to whoever holds the directory next.
func Lost(err error) bool {
	if err == nil {
		return false
	}
	if refusal, ok := api.FromConnect(err); ok {
		switch refusal.Code {
		case writv1.Reason_REASON_BUSY:
			return refusal.Retryable
		case writv1.Reason_REASON_COMMIT_UNKNOWN:
			return true // the process exits; the next one finds out what was written
		}
		return false
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	// Without a detail it is no answer of this API: the connection broke, unless something else
	// answered for good.
	var answer *connect.Error
	if errors.As(err, &answer) && answer.IsRemote() {
		return answer.Code() == connect.CodeUnavailable
	}
	return true
}
