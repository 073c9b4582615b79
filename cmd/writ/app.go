package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/host/daemon"
)

// app is what the commands share.
type app struct {
	open           func(dir string, log *slog.Logger) (daemon.Node, error)
	stdout, stderr io.Writer
	terminal       bool // stderr is one
	width          int  // of that terminal, in columns

	data string
	json bool
	exit int
}

func (a *app) run(ctx context.Context, args []string) int {
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		// A flag that could not be read may stand before --json.
		a.json = a.json || slices.Contains(args, "--json")
		return a.fail(err)
	}
	return a.exit
}

const rootLong = `Writ runs finite, durable, read-only research operations. What an operation may read, call, hold
and write is fixed before it starts, and every sentence that comes out is bound to exact bytes.

The data directory is --data, else WRIT_DATA, else XDG_DATA_HOME/writ. Commands talk to the process
that holds it; where there is none, they hold and serve it themselves while they live.

Exit codes: 0 complete; 1 a fault; 2 bad input, with the field named; 3 incomplete, blocked, failed,
cancelled or unknown, with the reason; 130 abandoned by a second Ctrl-C.`

const rootExample = `  # Answer a question from two files, one perspective
  writ research --question "What does the kernel decide?" --perspective "A new operator" \
      --source README.md:1-40 --source SECURITY.md:1-30

  # Keep a server running; other commands then go through it
  writ serve --data ./demo &
  writ ops list --data ./demo`

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "writ", Short: "An authority kernel for evidence research", Long: rootLong, Example: rootExample,
		SilenceErrors: true, SilenceUsage: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().StringVar(&a.data, "data", "", "data `directory`")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print one JSON object on standard output")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagRefusal(err) })
	root.AddCommand(a.researchCommand(), a.opsCommand(), a.sourceCommand(), a.serveCommand(), a.versionCommand())
	refuseStrayArguments(root)
	return root
}

// refuseStrayArguments types the errors that cobra makes of words it does not know.
func refuseStrayArguments(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		check = cobra.NoArgs
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			return reason.Field(writv1.Reason_REASON_INVALID_INPUT, "arguments", "%s", first).WithNext("See %s --help.", cmd.CommandPath())
		}
		return nil
	}
	for _, child := range cmd.Commands() {
		refuseStrayArguments(child)
	}
}

func flagRefusal(err error) error {
	var (
		unknown *pflag.NotExistError
		value   *pflag.InvalidValueError
		missing *pflag.ValueRequiredError
	)
	switch {
	case errors.As(err, &unknown):
		return reason.Field(writv1.Reason_REASON_UNKNOWN_FIELD, unknown.GetSpecifiedName(), "there is no such flag").WithNext("See the command's --help.")
	case errors.As(err, &value):
		return reason.Field(writv1.Reason_REASON_INVALID_INPUT, value.GetFlag().Name, "%q is not a %s", value.GetValue(), value.GetFlag().Value.Type())
	case errors.As(err, &missing):
		return reason.Field(writv1.Reason_REASON_MISSING_FIELD, missing.GetFlag().Name, "needs a value")
	}
	return reason.Field(writv1.Reason_REASON_INVALID_INPUT, "arguments", "%s", err)
}

// dataDir is the directory this invocation means.
func (a *app) dataDir() (string, error) {
	switch {
	case a.data != "":
		return a.data, nil
	case os.Getenv("WRIT_DATA") != "":
		return os.Getenv("WRIT_DATA"), nil
	case filepath.IsAbs(os.Getenv("XDG_DATA_HOME")):
		return filepath.Join(os.Getenv("XDG_DATA_HOME"), "writ"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return "", reason.Field(writv1.Reason_REASON_MISSING_FIELD, "data", "no data directory is named and HOME is not set").WithNext("Give --data DIR.")
	}
	return filepath.Join(home, ".local", "share", "writ"), nil
}

// say prints one line for a person.
func (a *app) say(format string, args ...any) { fmt.Fprintf(a.stderr, format+"\n", args...) }

func terminalWidth(file *os.File) int {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col < 20 {
		return 80
	}
	return int(size.Col)
}
