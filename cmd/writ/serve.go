package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/writ-kernel/writ/abi/visible"
	"github.com/writ-kernel/writ/host/daemon"
)

func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Hold a data directory and serve it on its unix socket",
		Long: "Hold a data directory, finish what is unfinished in it, and serve the Connect API on its unix socket until\n" +
			"SIGTERM or Ctrl-C. Running work is then brought to its next durable step; a second Ctrl-C ends at once.",
		Example: `  writ serve --data ./demo
  curl --unix-socket ./demo/writ.sock -H 'Content-Type: application/json' \
      -d '{"page_size": 5}' http://localhost/writ.v1.OperationsService/ListOperations`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
}

func (a *app) serve(ctx context.Context) error {
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(a.stderr, nil))
	return daemon.Serve(ctx, daemon.Config{
		DataDir: dir, Log: log,
		Ready: func(s daemon.Serving) {
			if a.json {
				a.printJSON(map[string]any{"data": s.Dir, "socket": s.Socket})
				return
			}
			a.say("serving %s on %s", visible.Text(s.Dir), visible.Text(s.Socket))
		},
		Drained: func(pending []string) {
			if len(pending) > 0 {
				a.say("still pending, and kept: %s", joinIDs(pending))
			}
		},
	}, func(dir string) (daemon.Node, error) { return a.open(dir, log) })
}
