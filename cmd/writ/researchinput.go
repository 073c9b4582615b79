package main

import (
	"crypto/rand"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/policies"
)

// researchFlags is what a person wrote.
type researchFlags struct {
	question         string
	perspectives     []string
	sources          []string
	slots            [2][]string
	allowance        int64
	key              string
	keyed            bool // the caller chose the key
	route            string
	deadline         time.Duration
	noRead, noEgress bool
}

// researchPlan is the checked form: files that were read once, and who reads which.
type researchPlan struct {
	flags researchFlags
	files []*sourceFile // in the order given
	slots [][]int       // indexes into files
}

// plan checks everything that can be checked without a kernel, with the kernel's own checks and the
// hard ceilings. A policy may be narrower; the kernel then says so.
func (f researchFlags) plan() (*researchPlan, error) {
	ceilings := policies.Default()
	p := &researchPlan{flags: f}
	if n := len(f.perspectives); n == 0 || n > ceilings.Research.Slots {
		return nil, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "perspective", "%d are given, 1 to %d are allowed", n, ceilings.Research.Slots)
	}
	specs, err := p.assign(ceilings.Research)
	if err != nil {
		return nil, err
	}
	for _, spec := range specs {
		file, err := readSource(spec, ceilings.Research.SourceBytes)
		if err != nil {
			return nil, err
		}
		if err := file.resolve(); err != nil {
			return nil, err
		}
		p.files = append(p.files, file)
	}
	if err := p.checkInput(ceilings); err != nil {
		return nil, err
	}
	for slot := range p.slots {
		if err := p.checkExcerpts(slot, ceilings.Research.ExcerptBytes); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// assign divides the sources over the slots: as --slot1 and --slot2 say, or else in the order given,
// the first half to slot 1. A single source serves every perspective.
func (p *researchPlan) assign(c policies.Research) ([]sourceSpec, error) {
	f := p.flags
	explicit := len(f.slots[0])+len(f.slots[1]) > 0
	switch {
	case explicit && len(f.sources) > 0:
		return nil, reason.Field(writv1.Reason_REASON_INVALID_INPUT, "source", "cannot stand beside --slot1 or --slot2").WithNext("Use --source alone, or --slot1 and --slot2 alone.")
	case !explicit && len(f.sources) == 0:
		return nil, reason.Field(writv1.Reason_REASON_MISSING_FIELD, "source", "none is given").WithNext("Give --source FILE:FROM-TO at least once.")
	case len(f.sources) > c.Sources:
		return nil, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "source", "%d are given, at most %d are allowed", len(f.sources), c.Sources)
	case len(f.slots[1]) > 0 && len(f.perspectives) < 2:
		return nil, reason.Field(writv1.Reason_REASON_INVALID_INPUT, "slot2", "there is no second perspective").WithNext("Give --perspective twice.")
	}
	p.slots = make([][]int, len(f.perspectives))
	var specs []sourceSpec
	add := func(name string, texts []string, slotOf func(i int) int) error {
		for i, text := range texts {
			spec, err := parseSource(fmt.Sprintf("%s[%d]", name, i), text)
			if err != nil {
				return err
			}
			slot := slotOf(i)
			p.slots[slot] = append(p.slots[slot], len(specs))
			specs = append(specs, spec)
		}
		return nil
	}
	if !explicit {
		half := (len(f.sources) + len(p.slots) - 1) / len(p.slots)
		if err := add("source", f.sources, func(i int) int { return i / half }); err != nil {
			return nil, err
		}
		if len(f.sources) == 1 && len(p.slots) == 2 {
			p.slots[1] = p.slots[0]
		}
	}
	for slot := range p.slots {
		name := "slot" + strconv.Itoa(slot+1)
		if err := add(name, f.slots[slot], func(int) int { return slot }); err != nil {
			return nil, err
		}
		if n := len(p.slots[slot]); n < 1 || n > c.SourcesPerChild {
			field := name
			if !explicit {
				field = "source"
			}
			return nil, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, field, "slot %d has %d sources, 1 to %d are allowed", slot+1, n, c.SourcesPerChild)
		}
	}
	return specs, nil
}

// checkInput runs the kernel's own check of the request's shape. Source IDs are not known yet, so
// digests stand in for them: they are equal exactly where the sources are.
func (p *researchPlan) checkInput(ceilings *policies.Policy) error {
	seconds, err := deadlineSeconds(p.flags.deadline)
	if err != nil {
		return err
	}
	in := research.Input{
		Question: p.flags.question, Allowance: p.flags.allowance, Route: p.flags.route,
		Limits: research.Limits{DeadlineSeconds: int(seconds)},
	}
	for i, files := range p.slots {
		slot := research.Slot{Perspective: p.flags.perspectives[i]}
		for _, index := range files {
			file := p.files[index]
			slot.Sources = append(slot.Sources, research.SourceUse{
				SourceID: file.spec.path + "\x00" + canon.Digest(file.content), SHA256: canon.Digest(file.content),
				FromLine: int(file.spec.from), ToLine: int(file.spec.to),
			})
		}
		in.Slots = append(in.Slots, slot)
	}
	if err := in.Validate(ceilings.Research, ceilings.Ledger); err != nil || !p.flags.keyed {
		return p.inWords(err)
	}
	return p.inWords(research.CheckKey(p.flags.key))
}

func deadlineSeconds(d time.Duration) (uint32, error) {
	if d < 0 || d%time.Second != 0 || d/time.Second > math.MaxUint32 {
		return 0, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "deadline", "%v is not a whole number of seconds, 0 or more", d)
	}
	return uint32(d / time.Second), nil
}

// checkExcerpts bounds what one slot may quote, and tells what is too much.
func (p *researchPlan) checkExcerpts(slot, limit int) error {
	total, largest := 0, p.files[p.slots[slot][0]]
	var sizes []string
	for _, index := range p.slots[slot] {
		file := p.files[index]
		total += file.quoted()
		sizes = append(sizes, fmt.Sprintf("%s:%d-%d %d", file.spec.path, file.spec.from, file.spec.to, file.quoted()))
		if file.quoted() > largest.quoted() {
			largest = file
		}
	}
	if total <= limit {
		return nil
	}
	err := reason.Field(writv1.Reason_REASON_EXCERPT_TOO_LARGE, largest.spec.field, "slot %d would quote %d bytes (%s); at most %d are allowed", slot+1, total, strings.Join(sizes, ", "), limit)
	if last := largest.fitting(limit - total + largest.quoted()); last > 0 {
		return err.WithNext("Approve fewer lines; %s:%d-%d would fit.", largest.spec.path, largest.spec.from, last)
	}
	return err
}

var requestPath = regexp.MustCompile(`^research\.slots\[(\d+)\](?:\.(perspective|sources\[(\d+)\])(\..*)?)?|^items\[(\d+)\](\..*)?`)

// inWords renames the field of a refusal from the request's path to the flag that it came from.
func (p *researchPlan) inWords(err error) error {
	if err == nil {
		return nil
	}
	typed := *refusal(err)
	switch typed.Field {
	case "research.question":
		typed.Field = "question"
	case "research.allowance":
		typed.Field = "allowance"
	case "research.route":
		typed.Field = "route"
	case "research.limits.deadline_seconds":
		typed.Field = "deadline"
	case "idempotency_key":
		typed.Field = "key"
	}
	if parts := requestPath.FindStringSubmatch(typed.Field); parts != nil {
		p.renameIndexed(&typed, parts)
	}
	return &typed
}

func (p *researchPlan) renameIndexed(typed *reason.Error, parts []string) {
	file, rest := -1, ""
	if slot, err := strconv.Atoi(parts[1]); err == nil && slot < len(p.slots) {
		if parts[2] == "perspective" {
			typed.Field = fmt.Sprintf("perspective[%d]", slot)
			return
		}
		if i, err := strconv.Atoi(parts[3]); err == nil && i < len(p.slots[slot]) {
			file, rest = p.slots[slot][i], parts[4]
		}
	} else if i, err := strconv.Atoi(parts[5]); err == nil && i < len(p.files) {
		file, rest = i, parts[6]
	}
	if file >= 0 {
		spec := p.files[file].spec
		typed.Field, typed.Detail = spec.field+rest, spec.text+": "+typed.Detail
	}
}

// randomKey makes an idempotency key that no one else chooses.
func randomKey() string { return "cli-" + strings.ToLower(rand.Text()) }
