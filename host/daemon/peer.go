package daemon

import (
	"context"
	"errors"
	"net"

	"github.com/writ-kernel/writ/host/api"
)

var errNoDescriptor = errors.New("the connection has no descriptor")

// withPeer reads the peer of a new connection once, before any of its bytes.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	uid, known, err := peerUID(conn)
	return api.WithPeer(ctx, api.Peer{UID: uid, Known: known, Err: err})
}
