package api

import (
	"context"
	"net"
	"net/http"
	"net/netip"

	"connectrpc.com/connect/v2/connecthttp"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// Peer is who is at the other end of a local connection.
type Peer struct {
	UID uint32
	// Known is false where the system does not tell; the socket's permissions then stand alone.
	Known bool
	// Err is why the system did not tell although it can. Such a peer is refused.
	Err error
}

type peerKey struct{}

// WithPeer stores the peer of a connection in its context.
func WithPeer(ctx context.Context, peer Peer) context.Context {
	return context.WithValue(ctx, peerKey{}, peer)
}

// PeerOf is the peer stored by WithPeer; it reports false when the connection had none.
func PeerOf(ctx context.Context) (Peer, bool) {
	peer, ok := ctx.Value(peerKey{}).(Peer)
	return peer, ok
}

// Local guards a handler that is served on a unix socket to the uid that owns the data directory.
// Every other uid is refused, the superuser included, and so is a request that a web page could
// have sent through a forwarded socket: one with an Origin, or with a Host that names no local peer.
func Local(uid uint32, next http.Handler) http.Handler {
	errorWriter := connecthttp.NewErrorWriter()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		refusal := checkPeer(r.Context(), uid)
		if refusal == nil {
			refusal = checkWeb(r)
		}
		if refusal == nil {
			next.ServeHTTP(w, r)
			return
		}
		err := ToConnect(refusal)
		if errorWriter.IsSupported(r) {
			_ = errorWriter.Write(w, r, err) // the peer is gone if this fails
			return
		}
		http.Error(w, err.Error(), http.StatusForbidden)
	})
}

func checkPeer(ctx context.Context, uid uint32) error {
	peer, ok := PeerOf(ctx)
	switch {
	case !ok || peer.Err != nil:
		return reason.New(writv1.Reason_REASON_NOT_OWNER, "the caller's uid could not be read").WithNext("Connect through the unix socket of the data directory.")
	case peer.Known && peer.UID != uid:
		return reason.New(writv1.Reason_REASON_NOT_OWNER, "uid %d does not own this data directory", peer.UID).WithNext("Run the command as uid %d.", uid)
	}
	return nil
}

func checkWeb(r *http.Request) error {
	if r.Header.Get("Origin") != "" {
		return reason.Field(writv1.Reason_REASON_NOT_OWNER, "Origin", "web pages are not served here")
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	switch host {
	case "", "localhost", "writ", "unix":
		return nil
	}
	if len(host) > 2 && host[0] == '[' {
		host = host[1 : len(host)-1]
	}
	if address, err := netip.ParseAddr(host); err == nil && address.IsLoopback() {
		return nil
	}
	return reason.Field(writv1.Reason_REASON_NOT_OWNER, "Host", "names no local peer").WithNext("Use localhost as the host name.")
}
