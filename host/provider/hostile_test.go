package provider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	abi "github.com/writ-kernel/writ/abi/provider"
	providerv1 "github.com/writ-kernel/writ/abi/provider/writ/provider/v1"
)

// The test binary is also every adapter of these tests, and the host that is killed. An adapter gets
// no argument and no variable of ours, so it knows what to be from the name it is started under.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(abi.Handshake.MagicCookieKey) != "":
		beAdapter(os.Args[0])
	case os.Getenv(hostVariable) != "":
		beHost(os.Getenv(hostVariable))
	case os.Getenv(rawVariable) != "":
		beRaw(os.Getenv(rawVariable))
	default:
		goleak.VerifyTestMain(m)
	}
}

func beAdapter(name string) {
	switch name {
	case "exits":
		os.Exit(1)
	case "silent":
		select {}
	case "babbles":
		fmt.Println("hello, I am no adapter \x1b[2J")
		select {}
	case "endless":
		for {
			fmt.Print(strings.Repeat("x", 4096))
		}
	case "tcp":
		announce("tcp", listen("tcp", "127.0.0.1:0"))
	case "foreign":
		announce("unix", foreignSocket())
	case "parent":
		announce("unix", "../../../"+filepath.Base(foreignSocket()))
	case "abstract":
		announce("unix", listen("unix", "@writ-test-"+strconv.Itoa(os.Getpid())))
	case "link":
		must(os.Symlink(foreignSocket(), "plugin1"))
		announce("unix", "./plugin1")
	case "file":
		must(os.WriteFile("plugin1", nil, 0o600))
		announce("unix", "./plugin1")
	case "deaf":
		announce("unix", listen("unix", "./plugin1"))
	case "netrpc":
		fmt.Printf("1|1|unix|%s|netrpc\n", listen("unix", "./plugin1"))
		select {}
	case "old":
		fmt.Printf("1|99|unix|%s|grpc\n", listen("unix", "./plugin1"))
		select {}
	}
	// Not abi.Serve: a hostile adapter puts no bound on its own messages.
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: abi.Handshake,
		Plugins:         abi.Plugins(&adapter{name: name}),
		Logger:          hclog.NewNullLogger(),
		GRPCServer:      plugin.DefaultGRPCServer,
	})
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// foreignSocket is a socket of somebody else: the test's, two directories above the adapter's own.
func foreignSocket() string {
	exe, err := os.Executable()
	must(err)
	return filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(exe))), "foreign.sock")
}

func listen(network, address string) string {
	l, err := net.Listen(network, address)
	must(err)
	return l.Addr().String()
}

func announce(network, address string) {
	fmt.Printf("1|1|%s|%s|grpc\n", network, address)
	select {}
}

type adapter struct {
	providerv1.UnimplementedPluginServiceServer
	providerv1.UnimplementedLocalModelServiceServer
	name string
}

func (a *adapter) Info(context.Context, *providerv1.InfoRequest) (*providerv1.InfoResponse, error) {
	info := &providerv1.InfoResponse{Abi: abi.ABI, Name: a.name, Version: testVersion, Kinds: []string{abi.KindLocalModel}}
	switch a.name {
	case "wrong-abi":
		info.Abi = "writ.provider.v9"
	case "wrong-name":
		info.Name = "somebody-else\x1b"
	case "wrong-version":
		info.Version = "9.9.9"
	case "wrong-kind":
		info.Kinds = []string{"documents"}
	case "no-info":
		return nil, status.Error(codes.Internal, "I would rather not say")
	}
	return info, nil
}

func (a *adapter) Describe(context.Context, *providerv1.DescribeRequest) (*providerv1.DescribeResponse, error) {
	return &providerv1.DescribeResponse{Models: []*providerv1.LocalModel{{Name: "echo", Deterministic: true}}}, nil
}

// What an adapter saw of its surroundings.
type surroundings struct {
	Pid   int
	Env   []string
	Args  []string
	Dir   string
	Files []string
	Child int
}

func (a *adapter) Generate(ctx context.Context, req *providerv1.GenerateRequest) (*providerv1.GenerateResponse, error) {
	resp := &providerv1.GenerateResponse{Text: req.Payload, Finish: abi.FinishStop, Charge: "0.01"}
	switch req.Model {
	case "look", "fork":
		resp.Text = lookAround(req.Model == "fork")
	case "die":
		os.Exit(3)
	case "panic":
		go panic("a goroutine of the adapter")
		<-ctx.Done()
	case "hang":
		select {} // not even the end of the call stops it
	case "flood":
		for range 512 {
			_, _ = fmt.Fprintln(os.Stdout, strings.Repeat("o", 4096))
			_, _ = fmt.Fprintln(os.Stderr, strings.Repeat("e", 4096)+"\x1b[31m")
			_, _ = os.NewFile(2, "").WriteString(strings.Repeat("r", 4096) + "\n")
		}
	case "large":
		resp.Text = make([]byte, abi.MaxTextBytes+1)
	case "huge":
		resp.Text = make([]byte, abi.MaxMessageBytes+1)
	case "finish":
		resp.Finish = "because"
	case "late":
		return nil, status.Error(codes.DeadlineExceeded, "it got late")
	case "refuse":
		return nil, status.Error(codes.InvalidArgument, "I do not like "+string(req.Payload))
	case "bad-string":
		resp.Charge = "\xff"
	}
	return resp, nil
}

func lookAround(fork bool) []byte {
	dir, err := os.Getwd()
	must(err)
	s := surroundings{Pid: os.Getpid(), Env: os.Environ(), Args: os.Args, Dir: dir}
	if fds, err := os.ReadDir("/proc/self/fd"); err == nil {
		for _, fd := range fds {
			if target, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil {
				s.Files = append(s.Files, target)
			}
		}
	}
	if fork {
		child := exec.Command("/bin/sleep", "600")
		// The child keeps the adapter's own standard error, as a careless one would.
		child.Stderr = os.NewFile(2, "stderr")
		must(child.Start())
		s.Child = child.Process.Pid
	}
	raw, err := json.Marshal(s)
	must(err)
	return raw
}

// beHost supervises one adapter, tells its process ID and waits to be killed.
func beHost(runDir string) {
	s, err := open(runDir, "good")
	must(err)
	resp, err := s.Generate(context.Background(), "good", &providerv1.GenerateRequest{Model: "look"})
	must(err)
	var seen surroundings
	must(json.Unmarshal(resp.Text, &seen))
	fmt.Println(seen.Pid)
	time.Sleep(10 * time.Minute)
}
