package main

import (
	"context"
	_ "embed"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/provider"
	providerv1 "github.com/writ-kernel/writ/abi/provider/writ/provider/v1"
	"github.com/writ-kernel/writ/abi/research"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/plugins/models/extractive/rank"
)

// The build locks the same file beside the binary, so that what is vetted and what is said agree.
//
//go:embed manifest.json
var manifestJSON []byte

const modelName = "bm25"

func main() {
	provider.Serve(model{})
}

type model struct {
	providerv1.UnimplementedPluginServiceServer
	providerv1.UnimplementedLocalModelServiceServer
}

func (model) Info(context.Context, *providerv1.InfoRequest) (*providerv1.InfoResponse, error) {
	var manifest wasm.Manifest
	if err := canon.Unmarshal(manifestJSON, &manifest); err != nil {
		return nil, status.Error(codes.Internal, "the embedded manifest cannot be read")
	}
	return &providerv1.InfoResponse{
		Abi:     provider.ABI,
		Name:    manifest.Name,
		Version: manifest.Version,
		Kinds:   []string{provider.KindLocalModel},
	}, nil
}

func (model) Describe(context.Context, *providerv1.DescribeRequest) (*providerv1.DescribeResponse, error) {
	return &providerv1.DescribeResponse{Models: []*providerv1.LocalModel{{
		Name:           modelName,
		Deterministic:  true,
		LanguageModel:  false,
		MaxOutputBytes: research.MaxOutputBytes,
	}}}, nil
}

// Generate refuses by gRPC status; a message never repeats the payload.
func (model) Generate(_ context.Context, req *providerv1.GenerateRequest) (*providerv1.GenerateResponse, error) {
	if req.GetModel() != modelName {
		return nil, status.Error(codes.NotFound, "the only model here is "+modelName)
	}
	task, err := research.ParsePrompt(req.GetPayload())
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "payload: %v", err)
	}
	text, err := rank.Answer(task, int(req.GetMaxOutputBytes()), int(req.GetMaxOutputTokens()))
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "answer: %v", err)
	}
	return &providerv1.GenerateResponse{Text: text, Finish: provider.FinishStop}, nil
}
