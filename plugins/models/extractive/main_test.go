package main

import (
	"bytes"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/provider"
	providerv1 "github.com/writ-kernel/writ/abi/provider/writ/provider/v1"
	"github.com/writ-kernel/writ/abi/research"
	"github.com/writ-kernel/writ/abi/wasm"
)

func TestInfoSaysWhatTheManifestSays(t *testing.T) {
	var manifest wasm.Manifest
	if err := canon.Unmarshal(manifestJSON, &manifest); err != nil {
		t.Fatal(err)
	}
	info, err := model{}.Info(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if info.Name != manifest.Name || info.Version != manifest.Version || info.Abi != manifest.ABI ||
		manifest.ABI != provider.ABI || manifest.Kind != wasm.KindModel {
		t.Fatalf("info %v, manifest %+v", info, manifest)
	}
}

func TestDescribeAdmitsNoLanguageModel(t *testing.T) {
	got, err := model{}.Describe(t.Context(), nil)
	if err != nil || len(got.Models) != 1 || got.Models[0].LanguageModel || !got.Models[0].Deterministic {
		t.Fatalf("%v, %v", got, err)
	}
}

func TestGenerateAnswersACompletePromptAndNothingElse(t *testing.T) {
	payload, err := research.BuildPrompt(research.Task{Question: "Who holds a lease?", Perspective: "an operator",
		Passages: []research.Passage{{ID: "p1", Text: "Only one worker at a time holds a lease."}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		req  *providerv1.GenerateRequest
		want codes.Code
	}{
		"a prompt":        {&providerv1.GenerateRequest{Model: modelName, Payload: payload}, codes.OK},
		"another model":   {&providerv1.GenerateRequest{Model: "gpt", Payload: payload}, codes.NotFound},
		"loose JSON":      {&providerv1.GenerateRequest{Model: modelName, Payload: append([]byte(" "), payload...)}, codes.InvalidArgument},
		"nothing":         {&providerv1.GenerateRequest{Model: modelName}, codes.InvalidArgument},
		"no room for any": {&providerv1.GenerateRequest{Model: modelName, Payload: payload, MaxOutputBytes: 10}, codes.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := model{}.Generate(t.Context(), c.req)
			if status.Code(err) != c.want {
				t.Fatalf("got %v", err)
			}
			if err == nil && (!bytes.Contains(resp.Text, []byte("Only one worker")) || resp.Finish != provider.FinishStop || resp.Charge != "") {
				t.Fatalf("got %v", resp)
			}
		})
	}
}
