package provider_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	providerv1 "github.com/writ-kernel/writ/abi/provider/writ/provider/v1"
)

const rawVariable = "WRIT_TEST_RAW_SOCKET"

// beRaw serves the same model over plain gRPC: what the supervised round trip is measured against.
func beRaw(path string) {
	l, err := net.Listen("unix", path)
	must(err)
	server := grpc.NewServer()
	providerv1.RegisterLocalModelServiceServer(server, &adapter{name: "raw"})
	fmt.Println("ready")
	must(server.Serve(l))
}

func rawClient(b *testing.B) providerv1.LocalModelServiceClient {
	b.Helper()
	dir, err := os.MkdirTemp("", "writ")
	if err != nil {
		b.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "raw")
	server := exec.Command(exe)
	server.Env = append(os.Environ(), rawVariable+"="+path)
	out, err := server.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		os.RemoveAll(dir)
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		b.Fatal(err)
	}
	conn, err := grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return providerv1.NewLocalModelServiceClient(conn)
}

// BenchmarkGenerate compares a supervised round trip with plain gRPC to a process like it over a
// unix socket of its own, with a full payload that comes back as the answer. The two take turns, so
// that whatever else the machine does falls on both, and the medians are compared.
func BenchmarkGenerate(b *testing.B) {
	req := &providerv1.GenerateRequest{Model: "echo", Payload: []byte(strings.Repeat("x", 8<<10))}
	client := rawClient(b)
	s, err := open(filepath.Join(b.TempDir(), "run"), "good")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Info(context.Background(), "good"); err != nil {
		b.Fatal(err)
	}
	var raw, supervised []time.Duration
	for b.Loop() {
		begin := time.Now()
		if _, err := client.Generate(context.Background(), req); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if _, err := s.Generate(context.Background(), "good", req); err != nil {
			b.Fatal(err)
		}
		raw = append(raw, middle.Sub(begin))
		supervised = append(supervised, time.Since(middle))
	}
	b.ReportMetric(float64(median(raw)), "raw-ns")
	b.ReportMetric(float64(median(supervised)), "supervised-ns")
	b.ReportMetric(float64(median(supervised))/float64(median(raw)), "ratio")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkStart is a cold first answer: write, hash, launch, handshake, Info, one call.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		s, err := open(filepath.Join(b.TempDir(), "run"), "good")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Info(context.Background(), "good"); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
