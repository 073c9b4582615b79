package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"os"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/provider"
	providerv1 "github.com/writ-kernel/writ/abi/provider/writ/provider/v1"
	"github.com/writ-kernel/writ/host/provider/providertest"
)

// version is what the build gives to adapters that a test adds to the lock.
const version = "0.0.0-extra"

func main() {
	provider.Serve(carrier{})
}

type carrier struct {
	providerv1.UnimplementedPluginServiceServer
	providerv1.UnimplementedLocalModelServiceServer
}

// Info takes the name it was started under: the test's lock decides what the adapter is called.
func (carrier) Info(context.Context, *providerv1.InfoRequest) (*providerv1.InfoResponse, error) {
	return &providerv1.InfoResponse{Abi: provider.ABI, Name: os.Args[0], Version: version, Kinds: []string{provider.KindLocalModel}}, nil
}

// Describe answers for the model that is asked for: there are as many as there are sockets.
func (carrier) Describe(_ context.Context, req *providerv1.DescribeRequest) (*providerv1.DescribeResponse, error) {
	if _, ok := providertest.SocketPath(req.GetModel()); !ok {
		return &providerv1.DescribeResponse{}, nil
	}
	return &providerv1.DescribeResponse{Models: []*providerv1.LocalModel{{
		Name: req.GetModel(), LanguageModel: true, MaxOutputBytes: provider.MaxTextBytes}}}, nil
}

func (carrier) Generate(ctx context.Context, req *providerv1.GenerateRequest) (*providerv1.GenerateResponse, error) {
	path, ok := providertest.SocketPath(req.GetModel())
	if !ok {
		return nil, status.Error(codes.NotFound, "the model names no counting server")
	}
	reply, err := carry(ctx, path, providertest.Request{
		CallID:          req.GetCallId(),
		PayloadSHA256:   canon.Digest(req.GetPayload()),
		Payload:         req.GetPayload(),
		MaxOutputBytes:  req.GetMaxOutputBytes(),
		MaxOutputTokens: req.GetMaxOutputTokens(),
	})
	if err != nil {
		return nil, status.Error(codes.DataLoss, "no whole reply")
	}
	return &providerv1.GenerateResponse{Text: reply.Text, Finish: reply.Finish, Charge: reply.Charge}, nil
}

func carry(ctx context.Context, path string, req providertest.Request) (providertest.Reply, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return providertest.Reply{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := json.NewEncoder(conn).Encode(req); err != nil {
		return providertest.Reply{}, err
	}
	var reply providertest.Reply
	err = json.NewDecoder(io.LimitReader(conn, providertest.MaxReplyBytes)).Decode(&reply)
	return reply, err
}
