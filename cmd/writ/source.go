package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/host/client"
)

func (a *app) sourceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "source", Short: "See imported sources", Example: "  writ source list",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List sources with their digests and permissions",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listSources(cmd.Context()) },
	})
	return cmd
}

type (
	sourceJSON struct {
		SourceID   string    `json:"source_id"`
		Name       string    `json:"name"`
		SHA256     string    `json:"sha256"`
		Size       uint64    `json:"size"`
		MediaType  string    `json:"media_type"`
		Normalizer string    `json:"normalizer"`
		TextSHA256 string    `json:"text_sha256"`
		Lines      uint32    `json:"lines"`
		Read       grantJSON `json:"read"`
		Egress     grantJSON `json:"egress"`
		CreatedAt  string    `json:"created_at"`
	}
	grantJSON struct {
		Granted  bool   `json:"granted"`
		Revision uint64 `json:"revision"`
	}
)

func sourceView(s *writv1.Source) sourceJSON {
	grant := func(g *writv1.SourceGrant) grantJSON {
		return grantJSON{Granted: g.GetGranted(), Revision: g.GetRevision()}
	}
	return sourceJSON{
		SourceID: s.GetSourceId(), Name: s.GetName(), SHA256: s.GetSha256(), Size: s.GetSize(), MediaType: s.GetMediaType(), Normalizer: s.GetNormalizer(),
		TextSHA256: s.GetTextSha256(), Lines: s.GetLines(), Read: grant(s.GetRead()), Egress: grant(s.GetEgress()), CreatedAt: clock(s.GetCreatedAt()),
	}
}

func (a *app) listSources(ctx context.Context) (err error) {
	s, err := a.session(mode{passive: true})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, s.close()) }()
	sources := []sourceJSON{}
	request := &writv1.ListSourcesRequest{PageSize: pageSize}
	for {
		var page *writv1.ListSourcesResponse
		err := s.do(ctx, func(c *client.Client) error {
			var err error
			page, err = c.Sources.ListSources(ctx, request)
			return err
		})
		if err != nil {
			return err
		}
		for _, source := range page.GetSources() {
			sources = append(sources, sourceView(source))
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			break
		}
	}
	if a.json {
		a.printJSON(map[string]any{"sources": sources})
		return nil
	}
	a.printTable([]string{"SOURCE", "NAME", "BYTES", "LINES", "READ", "EGRESS", "SHA256"}, len(sources), func(i int) []string {
		source := sources[i]
		return []string{
			source.SourceID, source.Name, fmt.Sprint(source.Size), fmt.Sprint(source.Lines),
			grantWord(source.Read), grantWord(source.Egress), source.SHA256,
		}
	})
	return nil
}

func grantWord(g grantJSON) string {
	if g.Granted {
		return "yes"
	}
	return "no"
}
