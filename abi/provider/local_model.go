package provider

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	providerv1 "github.com/writ-kernel/writ/abi/provider/writ/provider/v1"
)

// LocalModel is what an adapter implements: both services of a local model.
type LocalModel interface {
	providerv1.PluginServiceServer
	providerv1.LocalModelServiceServer
}

// LocalModelClient is the host's end of one running adapter.
type LocalModelClient struct {
	providerv1.PluginServiceClient
	providerv1.LocalModelServiceClient
}

// Plugins is the plugin set both sides hand to go-plugin. The host passes nil: it serves nothing.
func Plugins(model LocalModel) plugin.PluginSet {
	return plugin.PluginSet{KindLocalModel: &localModelPlugin{model: model}}
}

// Serve runs an adapter until its host ends it. It is the whole main of an adapter.
func Serve(model LocalModel) {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: Handshake,
		Plugins:         Plugins(model),
		// Only faults are worth a line of the host's bounded diagnostics.
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Error}),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts,
				grpc.MaxRecvMsgSize(MaxMessageBytes),
				grpc.MaxSendMsgSize(MaxMessageBytes),
				grpc.MaxHeaderListSize(MaxHeaderBytes))...)
		},
	})
}

type localModelPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	model LocalModel
}

func (p *localModelPlugin) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	if p.model == nil {
		return errors.New("no local model to serve")
	}
	providerv1.RegisterPluginServiceServer(server, p.model)
	providerv1.RegisterLocalModelServiceServer(server, p.model)
	return nil
}

func (p *localModelPlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return &LocalModelClient{
		PluginServiceClient:     providerv1.NewPluginServiceClient(conn),
		LocalModelServiceClient: providerv1.NewLocalModelServiceClient(conn),
	}, nil
}
