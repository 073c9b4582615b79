package api

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/api/writ/v1/writv1connect"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/artifact"
	"github.com/writ-kernel/writ/kernel/evidence"
	"github.com/writ-kernel/writ/kernel/grant"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

const (
	maxImport    = 8
	maxNameBytes = 255
	mediaText    = "text/plain; charset=utf-8"
	mediaRawMap  = "application/vnd.writ.raw-map"
)

type sources struct {
	Config
	// storing lets one import write at a time: imports of the same bytes share their promises, and so
	// the names that they are staged under.
	storing sync.Mutex
}

var _ writv1connect.SourcesServiceHandler = (*sources)(nil)

// prepared is one item that was checked and normalized; nothing of it is stored yet.
type prepared struct {
	grant.Import
	files    []file
	from, to int
	bytes    int
}

// file is one of the three immutable artifacts of a source.
type file struct {
	sha256, schema, media string
	data                  []byte
}

func (s *sources) ImportSources(ctx context.Context, req *writv1.ImportSourcesRequest) (*writv1.ImportSourcesResponse, error) {
	if n := len(req.Items); n < 1 || n > maxImport {
		return nil, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "items", "%d items, 1 to %d are allowed", n, maxImport)
	}
	var items []*prepared
	for i, item := range req.Items {
		p, err := s.prepare(ctx, item)
		if err != nil {
			if typed, ok := reason.As(err); ok {
				typed.Field = strings.TrimSuffix(fmt.Sprintf("items[%d].%s", i, typed.Field), ".")
			}
			return nil, err
		}
		items = append(items, p)
	}
	var rows []*storev1.Source
	var err error
	if req.ValidateOnly {
		rows, err = s.foresee(ctx, items)
	} else {
		rows, err = s.store(ctx, items)
	}
	if err != nil {
		return nil, err
	}
	out := new(writv1.ImportSourcesResponse)
	for i, row := range rows {
		out.Sources = append(out.Sources, &writv1.ImportedSource{
			Source: sourceView(row), FromLine: uint32(items[i].from), ToLine: uint32(items[i].to), RangeBytes: uint32(items[i].bytes),
		})
	}
	return out, nil
}

// prepare checks one item completely: name, size, text rules, line range.
func (s *sources) prepare(ctx context.Context, item *writv1.ImportItem) (*prepared, error) {
	if err := checkName(item.Name); err != nil {
		return nil, err
	}
	if limit := s.Policy.Research.SourceBytes; len(item.Content) > limit {
		return nil, reason.Field(writv1.Reason_REASON_TOO_LARGE, "content", "%d bytes, at most %d are allowed", len(item.Content), limit)
	}
	if err := evidence.CheckText(item.Content); err != nil {
		if typed, ok := reason.As(err); ok {
			typed.Field = "content"
		}
		return nil, err
	}
	normal, rawMap, module, err := s.Normalizer.Normalize(ctx, item.Content)
	if err != nil {
		return nil, err
	}
	text, err := evidence.NewText(item.Content, normal, rawMap)
	if err != nil {
		return nil, err
	}
	p := &prepared{from: int(item.FromLine), to: int(item.ToLine)}
	if text.Lines() == 0 {
		return nil, reason.Field(writv1.Reason_REASON_MISSING_FIELD, "content", "the file holds no text")
	}
	if p.from == 0 && p.to == 0 {
		p.from, p.to = 1, text.Lines()
	}
	span, err := text.LineRange(p.from, p.to)
	if err != nil {
		return nil, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "from_line", "lines %d to %d of %d", p.from, p.to, text.Lines())
	}
	excerpt, err := text.Cut(span)
	if err != nil {
		return nil, err
	}
	p.bytes = len(excerpt)
	p.files = []file{
		{canon.Digest(item.Content), "source.raw.v1", mediaText, item.Content},
		{text.SHA256(), "source.text.v1", mediaText, normal},
		{canon.Digest(rawMap), "source.raw_map.v1", mediaRawMap, rawMap},
	}
	p.Read, p.Egress = item.Read, item.Egress
	p.Source = &storev1.Source{
		Id: record.SourceID(s.Owner, item.Name, text.RawSHA256()), Owner: s.Owner, Name: item.Name, MediaType: mediaText,
		Sha256: text.RawSHA256(), Size: uint64(text.RawSize()), Normalizer: text.Normalizer(), NormalizerSha256: module,
		TextSha256: text.SHA256(), MapSha256: p.files[2].sha256, Lines: uint32(text.Lines()),
	}
	return p, nil
}

func checkName(name string) error {
	switch {
	case name == "":
		return reason.Field(writv1.Reason_REASON_MISSING_FIELD, "name", "empty")
	case len(name) > maxNameBytes:
		return reason.Field(writv1.Reason_REASON_TOO_LARGE, "name", "%d bytes, at most %d are allowed", len(name), maxNameBytes)
	case !utf8.ValidString(name):
		return reason.Field(writv1.Reason_REASON_INVALID_UTF8, "name", "not valid UTF-8")
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return reason.Field(writv1.Reason_REASON_INVALID_INPUT, "name", "holds a control character")
	}
	return nil
}

// foresee answers what an import would give, and records nothing.
func (s *sources) foresee(ctx context.Context, items []*prepared) ([]*storev1.Source, error) {
	return store.Read(ctx, s.Store, func(r store.Reader) ([]*storev1.Source, error) {
		var rows []*storev1.Source
		for _, p := range items {
			row, err := grant.Foresee(r, p.Import)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return rows, nil
	})
}

// store promises every file, writes and reads back, then adopts all sources in one transaction.
func (s *sources) store(ctx context.Context, items []*prepared) ([]*storev1.Source, error) {
	s.storing.Lock()
	defer s.storing.Unlock()
	err := s.Store.Update(ctx, func(tx store.Tx) error {
		for _, p := range items {
			for _, f := range p.files {
				if _, err := artifact.ReserveImport(tx, s.Owner, f.sha256, f.schema, len(f.data)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range items {
		for _, f := range p.files {
			if _, err := s.Files.Write(s.Owner, artifact.ImportID(s.Owner, f.sha256), f.data, len(f.data)); err != nil {
				return nil, err
			}
		}
	}
	rows, err := store.Do(ctx, s.Store, func(tx store.Tx) ([]*storev1.Source, error) {
		var rows []*storev1.Source
		for _, p := range items {
			for _, f := range p.files {
				if err := artifact.Adopt(tx, artifact.ImportID(s.Owner, f.sha256), f.media, f.sha256, len(f.data)); err != nil {
					return nil, err
				}
			}
			row, err := grant.ImportSource(tx, p.Import)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return rows, nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range items {
		for _, f := range p.files {
			if err := s.Files.Settled(s.Owner, artifact.ImportID(s.Owner, f.sha256)); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

func (s *sources) GetSource(ctx context.Context, req *writv1.GetSourceRequest) (*writv1.GetSourceResponse, error) {
	row, err := store.Read(ctx, s.Store, func(r store.Reader) (*storev1.Source, error) {
		return grant.Source(r, s.Owner, req.SourceId)
	})
	if err != nil {
		return nil, err
	}
	return &writv1.GetSourceResponse{Source: sourceView(row)}, nil
}

func (s *sources) ListSources(ctx context.Context, req *writv1.ListSourcesRequest) (*writv1.ListSourcesResponse, error) {
	page, err := pageOf(req.PageSize, req.PageToken, record.SourcePrefix(s.Owner))
	if err != nil {
		return nil, err
	}
	out := new(writv1.ListSourcesResponse)
	err = s.Store.View(ctx, func(r store.Reader) error {
		return page.walk(r, &out.NextPageToken, func(key []byte) error {
			row, err := grant.Source(r, s.Owner, record.Last(key))
			if err == nil {
				out.Sources = append(out.Sources, sourceView(row))
			}
			return err
		})
	})
	return out, err
}

func sourceView(row *storev1.Source) *writv1.Source {
	return &writv1.Source{
		SourceId: row.Id, Name: row.Name, Sha256: row.Sha256, Size: row.Size, MediaType: row.MediaType,
		Normalizer: row.Normalizer, TextSha256: row.TextSha256, Lines: row.Lines, CreatedAt: stamp(row.CreatedUs),
		Read:   &writv1.SourceGrant{Granted: row.Read.GetGranted(), Revision: row.Read.GetRevision()},
		Egress: &writv1.SourceGrant{Granted: row.Egress.GetGranted(), Revision: row.Egress.GetRevision()},
	}
}
