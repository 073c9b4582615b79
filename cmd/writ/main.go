package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mattn/go-isatty"

	"github.com/writ-kernel/writ/host/wasm"
)

// Exit codes, also in the help of the root command.
const (
	exitComplete = 0
	exitFault    = 1
	exitInput    = 2
	exitUnended  = 3   // incomplete, blocked, failed, cancelled or unknown
	exitAbandon  = 130 // a second interrupt, as shells report it
)

func main() {
	if wasm.WorkerMain() { // this process was started as a sandbox, and its host is gone
		return
	}
	os.Exit(run())
}

func run() int {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		cancel(interrupted{signal: <-signals})
		<-signals
		os.Exit(exitAbandon) // whatever was cut off is found again at the next start
	}()
	a := &app{
		open: openNode, stdout: os.Stdout, stderr: os.Stderr,
		terminal: isatty.IsTerminal(os.Stderr.Fd()), width: terminalWidth(os.Stderr),
	}
	return a.run(ctx, os.Args[1:])
}

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ signal os.Signal }

func (i interrupted) Error() string { return "interrupted by " + i.signal.String() }

// byHand reports that a person pressed Ctrl-C, as against a system that stops its processes.
func byHand(ctx context.Context) bool {
	cause, ok := context.Cause(ctx).(interrupted)
	return ok && cause.signal == os.Interrupt
}
