package provider

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"time"

	abi "github.com/writ-kernel/writ/abi/provider"
	providerv1 "github.com/writ-kernel/writ/abi/provider/writ/provider/v1"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/registry"
)

// MaxCall bounds one call from its request to the end of its answer, the start of the adapter and
// the wait for its turn included.
const MaxCall = 45 * time.Second

// Config says what to supervise.
type Config struct {
	// RunDir holds the adapters' private directories. It must be the supervisor's own: what a
	// killed host left there is removed. It is created when missing.
	RunDir string
	// Adapters are vouched-for plugins of kind model, by unique name.
	Adapters []registry.Plugin
	// Logger receives adapters' diagnostics and starts and ends; nil means slog.Default.
	Logger *slog.Logger
	// StartTimeout bounds start, handshake and first Info; 0 means 15 s.
	StartTimeout time.Duration
	// BackOff is the pause after a first failure; it doubles with each further one in a row, up to
	// 5 s. 0 means 100 ms.
	BackOff time.Duration
}

// Supervisor is a set of adapters. Its methods may be called from any goroutine.
type Supervisor struct {
	adapters map[string]*adapter
	closing  context.Context
	close    context.CancelFunc
}

// The name becomes a file's name and a process's.
var adapterName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// Open prepares adapters and starts none. It removes what an earlier supervisor that was killed
// left in RunDir.
func Open(_ context.Context, cfg Config) (*Supervisor, error) {
	if err := os.MkdirAll(cfg.RunDir, 0o700); err != nil {
		return nil, fmt.Errorf("adapter directory: %w", err)
	}
	// Working directories are handed to processes, so a relative one would not stay the same.
	runDir, err := filepath.Abs(cfg.RunDir)
	if err != nil {
		return nil, fmt.Errorf("adapter directory: %w", err)
	}
	if err := removeLeftovers(runDir); err != nil {
		return nil, err
	}
	s := &Supervisor{adapters: map[string]*adapter{}}
	s.closing, s.close = context.WithCancel(context.Background())
	for _, p := range cfg.Adapters {
		name := p.Manifest.Name
		if !adapterName.MatchString(name) || s.adapters[name] != nil {
			s.close()
			return nil, reason.Field(writv1.Reason_REASON_INVALID_INPUT, "adapters", "%q is not a usable adapter name or not unique", name)
		}
		s.adapters[name] = &adapter{
			plugin:  p,
			runDir:  runDir,
			log:     cmp.Or(cfg.Logger, slog.Default()).With("adapter", name),
			start:   cmp.Or(cfg.StartTimeout, 15*time.Second),
			backOff: cmp.Or(cfg.BackOff, 100*time.Millisecond),
			turn:    make(chan struct{}, 1),
			closing: s.closing,
		}
	}
	return s, nil
}

// Close ends every call and every process and removes their files. It returns when all are gone.
func (s *Supervisor) Close() error {
	s.close()
	var first error
	for _, a := range s.adapters {
		a.turn <- struct{}{}
		first = cmp.Or(first, a.shut())
		<-a.turn
	}
	return first
}

// Info asks an adapter what it is. The answer was compared with the manifest when it started.
func (s *Supervisor) Info(ctx context.Context, name string) (resp *providerv1.InfoResponse, err error) {
	err = s.call(ctx, name, func(ctx context.Context, c *abi.LocalModelClient) error {
		resp, err = c.Info(ctx, &providerv1.InfoRequest{HostAbi: abi.ABI})
		return err
	})
	return resp, err
}

// Describe asks an adapter about one model, or for its list when model is empty.
func (s *Supervisor) Describe(ctx context.Context, name, model string) (resp *providerv1.DescribeResponse, err error) {
	err = s.call(ctx, name, func(ctx context.Context, c *abi.LocalModelClient) error {
		resp, err = c.Describe(ctx, &providerv1.DescribeRequest{Model: model})
		return err
	})
	return resp, err
}

// Generate sends one request, once. Its reasons:
//
//	not_found          no such adapter (not sent)
//	prompt_too_large   payload over 8 KiB (not sent)
//	plugin_digest      the adapter's bytes are not the vouched-for ones (not sent)
//	deadline_exceeded  no answer in time; the process was ended
//	cancelled          by the caller or by Close; the process was ended
//	plugin_failed      start, handshake or Info failed, or the adapter is disabled (not sent); the
//	                   adapter ended, or refused
//	output_too_large   more text than requested or than 16 KiB
//	output_invalid     an unknown finish
//
// errors.Is(err, ErrNotSent) tells that no request byte left the host. With the two output reasons
// the response is returned too, without its text, because its charge counts all the same; it is nil
// when the whole message was over the message bound.
func (s *Supervisor) Generate(ctx context.Context, name string, req *providerv1.GenerateRequest) (*providerv1.GenerateResponse, error) {
	if len(req.GetPayload()) > abi.MaxPayloadBytes {
		return nil, notSent(reason.Field(writv1.Reason_REASON_PROMPT_TOO_LARGE, "payload",
			"%d bytes, at most %d are allowed", len(req.GetPayload()), abi.MaxPayloadBytes))
	}
	var resp *providerv1.GenerateResponse
	err := s.call(ctx, name, func(ctx context.Context, c *abi.LocalModelClient) (err error) {
		resp, err = c.Generate(ctx, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	return checkAnswer(req, resp)
}

func checkAnswer(req *providerv1.GenerateRequest, resp *providerv1.GenerateResponse) (*providerv1.GenerateResponse, error) {
	limit := abi.MaxTextBytes
	if asked := int(req.GetMaxOutputBytes()); asked > 0 {
		limit = min(limit, asked)
	}
	var err error
	switch size := len(resp.GetText()); {
	case size > limit:
		err = reason.Field(writv1.Reason_REASON_OUTPUT_TOO_LARGE, "text", "%d bytes, at most %d were requested", size, limit)
	case resp.GetFinish() != abi.FinishStop && resp.GetFinish() != abi.FinishLength:
		err = reason.Field(writv1.Reason_REASON_OUTPUT_INVALID, "finish", "neither %s nor %s", abi.FinishStop, abi.FinishLength)
	}
	if err != nil {
		resp.Text = nil
	}
	return resp, err
}

func (s *Supervisor) call(ctx context.Context, name string, rpc func(context.Context, *abi.LocalModelClient) error) error {
	a := s.adapters[name]
	if a == nil {
		return notSent(reason.New(writv1.Reason_REASON_NOT_FOUND, "no adapter is named %q", name))
	}
	return a.call(ctx, rpc)
}
