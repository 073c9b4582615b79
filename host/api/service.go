package api

import (
	"context"
	"log/slog"
	"net/http"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"connectrpc.com/grpcreflect/v2"

	"github.com/writ-kernel/writ/abi/api/writ/v1/writv1connect"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/policies"
)

// Files is what the handlers need of the private workspace.
type Files interface {
	Write(owner, promise string, data []byte, limit int) (sha256 string, err error)
	Read(owner, sha256 string, limit int) ([]byte, error)
	Settled(owner, promise string) error
	// Path is where an artifact lies, relative to the data directory.
	Path(owner, sha256 string) string
}

// Normalizer runs the text.v1 module.
type Normalizer interface {
	Normalize(ctx context.Context, raw []byte) (text, rawMap []byte, moduleSHA256 string, err error)
}

// Plugins resolves the digests that a new operation on a route pins.
type Plugins interface {
	Pins(route policies.Route) (research.Pins, error)
}

// Config is what the services work with. Every request acts for Owner: the socket admits nobody else.
type Config struct {
	Store      store.Store
	Jobs       *operation.Jobs
	Policy     *policies.Policy
	Files      Files
	Normalizer Normalizer
	Plugins    Plugins
	Owner      string
	Log        *slog.Logger
}

// Handler serves every service with strict decoding, typed errors and reflection.
func Handler(c Config) http.Handler {
	server := connect.NewServer(Errors(c.Log))
	writv1connect.RegisterOperationsServiceHandler(server, &operations{Config: c})
	writv1connect.RegisterSourcesServiceHandler(server, &sources{Config: c})
	writv1connect.RegisterArtifactsServiceHandler(server, &artifacts{Config: c})
	grpcreflect.Register(server, grpcreflect.WithNamer(grpcreflect.NamerFunc(func() []string {
		return []string{writv1connect.OperationsServiceName, writv1connect.SourcesServiceName, writv1connect.ArtifactsServiceName}
	})))
	mux := http.NewServeMux()
	connecthttp.Mount(mux, server, ServerOptions()...)
	return mux
}
