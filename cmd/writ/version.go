package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			view := versionView()
			if a.json {
				a.printJSON(view)
				return nil
			}
			fmt.Fprintf(a.stdout, "writ %s, revision %s, %s\n", view.Version, view.Revision, view.Go)
			return nil
		},
	}
}

type versionJSON struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
}

func versionView() versionJSON {
	out := versionJSON{Version: "(devel)", Revision: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return out
	}
	out.Version, out.Go = info.Main.Version, info.GoVersion
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			out.Revision = setting.Value
		}
	}
	return out
}
