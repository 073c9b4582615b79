package wasm

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/canon"
	abi "github.com/writ-kernel/writ/abi/wasm"
)

// StructureResult is a text's segments and diagnostics, and the receipt.
type StructureResult struct {
	abi.StructureResult
	Result
}

// Structure runs a reader over a normalized text. Beyond what Call checks,
// the segments cover the text exactly once in order, and kinds, roles, levels, ancestry and
// diagnostics are what the ABI allows.
func Structure(ctx context.Context, p *Pool, m Module, mediaType string, text []byte, limits Limits) (StructureResult, error) {
	r, err := p.Call(ctx, m, Request{Op: abi.OpStructure, MediaType: mediaType, Body: text}, limits)
	if err != nil {
		return StructureResult{}, err
	}
	s := StructureResult{Result: r}
	if err := canon.Unmarshal(r.Body, &s.StructureResult); err != nil {
		return StructureResult{}, r.broken(m, err)
	}
	if err := checkStructure(s.StructureResult, utf8.RuneCount(text)); err != nil {
		return StructureResult{}, r.broken(m, err)
	}
	return s, nil
}

var (
	segmentKinds = abi.SegmentKinds()
	roles        = abi.Roles()
)

func checkStructure(r abi.StructureResult, points int) error {
	at := 0
	for i, s := range r.Segments {
		if s.Start != at || s.End <= s.Start || s.End > points {
			return fmt.Errorf("segments[%d] is [%d,%d) after %d of %d code points", i, s.Start, s.End, at, points)
		}
		at = s.End
		if err := checkSegment(r.Segments, i); err != nil {
			return fmt.Errorf("segments[%d]: %w", i, err)
		}
	}
	if at != points {
		return fmt.Errorf("segments cover %d of %d code points", at, points)
	}
	for i, d := range r.Diagnostics {
		if !isCode(d.Code) || d.Start < 0 || d.End < d.Start || d.End > points || len(d.Detail) > 512 {
			return fmt.Errorf("diagnostics[%d] is malformed or beyond the text", i)
		}
	}
	return nil
}

func checkSegment(all []abi.Segment, i int) error {
	s := all[i]
	if !slices.Contains(segmentKinds, s.Kind) {
		return fmt.Errorf("kind %.40q", s.Kind)
	}
	if !slices.Contains(roles, s.Role) {
		return fmt.Errorf("role %.40q", s.Role)
	}
	heading := s.Kind == abi.SegmentHeading
	if heading != (s.Level >= 1 && s.Level <= 6) || !heading && (s.Level != 0 || s.Title != "") {
		return fmt.Errorf("a %s of level %d", s.Kind, s.Level)
	}
	last, level := -1, 0
	for _, a := range s.Ancestry {
		if a <= last || a >= i || all[a].Kind != abi.SegmentHeading || all[a].Level <= level {
			return fmt.Errorf("ancestry %d", a)
		}
		last, level = a, all[a].Level
	}
	if heading && s.Level <= level {
		return fmt.Errorf("a heading of level %d under one of level %d", s.Level, level)
	}
	return nil
}
