package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/host/client"
)

const researchLong = `Admit one research dossier and wait for it.

Each --source is a file, or lines of it: FILE:FROM-TO, counted from 1, both included. It is imported
as an immutable source, with permission to read it and consent to show it to a model, unless
--no-read or --no-egress withholds that. One perspective reads all sources; with two, the first half
goes to slot 1 and the rest to slot 2, in the order given, and a single source goes to both.
--slot1 and --slot2 assign sources themselves. A slot takes one or two sources and may quote 4096
bytes of approved lines in all.

The same --key with the same input is the same operation: it is shown again, and nothing is
contacted twice. Ctrl-C cancels the operation; a second one abandons the wait at once.`

const researchExample = `  writ research --question "Who may move money?" --perspective "An auditor" \
      --source README.md:1-40

  writ research --question "Which promises are kept?" --perspective "An operator" --perspective "An attacker" \
      --slot1 README.md:1-40 --slot2 SECURITY.md:1-40 --slot2 README.md:41-60 --key weekly-7 --json`

func (a *app) researchCommand() *cobra.Command {
	var f researchFlags
	cmd := &cobra.Command{
		Use: "research", Short: "Run a research dossier over local files", Long: researchLong, Example: researchExample,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.keyed = cmd.Flags().Changed("key")
			return a.research(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.question, "question", "", "what to find out, at most 2048 bytes")
	flags.StringArrayVar(&f.perspectives, "perspective", nil, "whose eyes to read with, at most 1024 bytes; once or twice")
	flags.StringArrayVar(&f.sources, "source", nil, "`FILE[:FROM-TO]` to read, up to four times")
	flags.StringArrayVar(&f.slots[0], "slot1", nil, "`FILE[:FROM-TO]` for the first perspective, once or twice")
	flags.StringArrayVar(&f.slots[1], "slot2", nil, "`FILE[:FROM-TO]` for the second perspective, once or twice")
	flags.Int64Var(&f.allowance, "allowance", 50_000, "most that may be held, in `micro-USD`")
	flags.StringVar(&f.key, "key", "", "idempotency key, at most 128 bytes (default: a random one, printed)")
	flags.StringVar(&f.route, "route", "", "model route of the policy (default: the policy's)")
	flags.DurationVar(&f.deadline, "deadline", 0, "give up after this time, at most 5m (default: the policy's)")
	flags.BoolVar(&f.noRead, "no-read", false, "do not permit reading the sources")
	flags.BoolVar(&f.noEgress, "no-egress", false, "do not consent to showing the sources to a model")
	return cmd
}

func (a *app) research(ctx context.Context, f researchFlags) (err error) {
	p, err := f.plan()
	if err != nil {
		return err
	}
	s, err := a.session(mode{create: true})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, s.close()) }()
	if !f.keyed {
		f.key = randomKey()
	}
	progress := a.progress()
	defer progress.end()

	// From here on a call that was sent is waited for: an admission whose answer was thrown away
	// would run without anyone who knows its name.
	calls := context.WithoutCancel(ctx)
	progress.step("checking the sources; the first time takes a few seconds")
	foreseen, err := p.importSources(calls, s, true)
	if err != nil {
		return err
	}
	if err := p.rehearse(calls, s, f.key, foreseen); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	sources, err := p.importSources(calls, s, false)
	if err != nil {
		return err
	}
	request := &writv1.AdmitOperationRequest{IdempotencyKey: f.key, Input: &writv1.AdmitOperationRequest_Research{Research: p.input(sources)}}
	var admitted *writv1.AdmitOperationResponse
	err = s.do(calls, func(c *client.Client) error {
		var err error
		admitted, err = c.Operations.AdmitOperation(calls, request)
		return err
	})
	if err != nil {
		return p.inWords(err)
	}
	id := admitted.GetOperation().GetOperationId()
	progress.note("operation %s, key %s", id, f.key)
	// An operation that was there before is someone else's to cancel.
	op, err := a.follow(ctx, s, progress, id, 0, !admitted.GetDuplicate() || !f.keyed)
	if err != nil {
		return err
	}
	progress.end()
	a.printResult(op, s.resolved())
	return nil
}

// rehearse asks whether the admission would be refused, before anything is imported for it. That a new
// source is not there yet is no refusal.
func (p *researchPlan) rehearse(ctx context.Context, s *session, key string, foreseen []*writv1.ImportedSource) error {
	request := &writv1.AdmitOperationRequest{
		IdempotencyKey: key, Input: &writv1.AdmitOperationRequest_Research{Research: p.input(foreseen)}, ValidateOnly: true,
	}
	err := s.do(ctx, func(c *client.Client) error {
		_, err := c.Operations.AdmitOperation(ctx, request)
		return err
	})
	if err == nil {
		return nil
	}
	if refused := refusal(err); refused.Code == writv1.Reason_REASON_NOT_FOUND && strings.HasSuffix(refused.Field, ".source_id") {
		return nil
	}
	return p.inWords(err)
}

// importSources sends every file once per use, in the order given, and returns the sources in that
// order.
func (p *researchPlan) importSources(ctx context.Context, s *session, validateOnly bool) ([]*writv1.ImportedSource, error) {
	request := &writv1.ImportSourcesRequest{ValidateOnly: validateOnly}
	for _, file := range p.files {
		request.Items = append(request.Items, &writv1.ImportItem{
			Name: file.spec.path, Content: file.content, Read: !p.flags.noRead, Egress: !p.flags.noEgress,
			FromLine: file.spec.from, ToLine: file.spec.to,
		})
	}
	var answer *writv1.ImportSourcesResponse
	err := s.do(ctx, func(c *client.Client) error {
		var err error
		answer, err = c.Sources.ImportSources(ctx, request)
		return err
	})
	if err != nil {
		return nil, p.inWords(err)
	}
	return answer.GetSources(), nil
}

func (p *researchPlan) input(sources []*writv1.ImportedSource) *writv1.ResearchInput {
	seconds, _ := deadlineSeconds(p.flags.deadline) // checked by plan
	in := &writv1.ResearchInput{
		Question: p.flags.question, Allowance: p.flags.allowance, Route: p.flags.route,
		Limits: &writv1.ResearchLimits{DeadlineSeconds: seconds},
	}
	for i, files := range p.slots {
		slot := &writv1.ResearchSlot{Perspective: p.flags.perspectives[i]}
		for _, index := range files {
			slot.Sources = append(slot.Sources, p.use(sources[index]))
		}
		in.Slots = append(in.Slots, slot)
	}
	return in
}

// use relies on the permissions as they are now, or on none where one is withheld.
func (p *researchPlan) use(imported *writv1.ImportedSource) *writv1.SourceUse {
	source := imported.GetSource()
	use := &writv1.SourceUse{
		SourceId: source.GetSourceId(), Sha256: source.GetSha256(),
		FromLine: imported.GetFromLine(), ToLine: imported.GetToLine(),
	}
	if !p.flags.noRead {
		use.ReadRevision = source.GetRead().GetRevision()
	}
	if !p.flags.noEgress {
		use.EgressRevision = source.GetEgress().GetRevision()
	}
	return use
}
