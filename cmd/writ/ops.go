package main

import (
	"bufio"
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/host/client"
	"github.com/writ-kernel/writ/kernel/board"
)

func (a *app) opsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ops", Short: "See and steer operations",
		Example: "  writ ops list\n  writ ops show OPERATION --json\n  writ ops resume",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	limit := 50
	list := &cobra.Command{
		Use: "list", Short: "List operations, newest first",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listOperations(cmd.Context(), limit) },
	}
	list.Flags().IntVar(&limit, "limit", limit, "most operations to list")
	cmd.AddCommand(list,
		&cobra.Command{
			Use: "show OPERATION", Short: "Show one operation: jobs, money, receipts and result", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return a.showOperation(cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use: "watch OPERATION", Short: "Print an operation's events until it ends", Args: cobra.ExactArgs(1),
			Long: "Print an operation's events from the first one on, until it ends. Stopping the watch changes nothing.",
			RunE: func(cmd *cobra.Command, args []string) error { return a.watchOperation(cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use: "cancel OPERATION", Short: "Cancel an operation and wait until nothing acts for it", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return a.cancelOperation(cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use: "resume [OPERATION]...", Short: "Decide unfinished operations again and finish them", Args: cobra.ArbitraryArgs,
			Long: "Decide every unfinished job again from what is recorded, and wait for the end. No deadline, counter or\n" +
				"allowance is renewed and no contacted call is repeated. Without a name, all unfinished operations are resumed.",
			RunE: func(cmd *cobra.Command, args []string) error { return a.resumeOperations(cmd.Context(), args) },
		},
	)
	return cmd
}

const pageSize = 200

// eachOperation pages through the newest operations until fn has seen limit of them; 0 is all.
func (s *session) eachOperation(ctx context.Context, limit int, fn func(*writv1.Operation)) error {
	request := &writv1.ListOperationsRequest{PageSize: pageSize}
	for seen := 0; ; {
		var page *writv1.ListOperationsResponse
		err := s.do(ctx, func(c *client.Client) error {
			var err error
			page, err = c.Operations.ListOperations(ctx, request)
			return err
		})
		if err != nil {
			return err
		}
		for _, op := range page.GetOperations() {
			fn(op)
			if seen++; seen == limit {
				return nil
			}
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return nil
		}
	}
}

type listedJSON struct {
	OperationID string `json:"operation_id"`
	Capability  string `json:"capability"`
	Key         string `json:"key"`
	State       string `json:"state"`
	Reason      string `json:"reason,omitempty"`
	Detail      string `json:"detail,omitempty"`
	CreatedAt   string `json:"created_at"`
	Deadline    string `json:"deadline"`
	EndedAt     string `json:"ended_at,omitempty"`
}

func listedView(op *writv1.Operation) listedJSON {
	return listedJSON{
		OperationID: op.GetOperationId(), Capability: op.GetCapability(), Key: op.GetIdempotencyKey(), State: stateName(op.GetState()),
		Reason: reason.Name(op.GetReason()), Detail: op.GetDetail(),
		CreatedAt: clock(op.GetCreatedAt()), Deadline: clock(op.GetDeadline()), EndedAt: clock(op.GetEndedAt()),
	}
}

func (a *app) listOperations(ctx context.Context, limit int) (err error) {
	if limit < 1 {
		return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "limit", "must be 1 or more")
	}
	s, err := a.session(mode{passive: true})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, s.close()) }()
	listed := []listedJSON{}
	if err := s.eachOperation(ctx, limit, func(op *writv1.Operation) { listed = append(listed, listedView(op)) }); err != nil {
		return err
	}
	if a.json {
		a.printJSON(map[string]any{"operations": listed})
		return nil
	}
	a.printTable([]string{"OPERATION", "STATE", "REASON", "CREATED", "KEY"}, len(listed), func(i int) []string {
		op := listed[i]
		return []string{op.OperationID, op.State, op.Reason, op.CreatedAt, op.Key}
	})
	return nil
}

func (a *app) printTable(head []string, rows int, row func(int) []string) {
	out := bufio.NewWriter(a.stdout)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	write := func(cells []string) {
		for i, cell := range cells {
			if i > 0 {
				fmt.Fprint(table, "\t")
			}
			fmt.Fprint(table, oneLine(cell))
		}
		fmt.Fprintln(table)
	}
	write(head)
	for i := range rows {
		write(row(i))
	}
	_ = table.Flush() // it writes to memory; flush reports what the real writer says
	a.flush(out)
}

type jobJSON struct {
	JobID    string `json:"job_id"`
	Kind     string `json:"kind"`
	Slot     uint32 `json:"slot"`
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Waiting  string `json:"waiting,omitempty"`
	Fence    uint64 `json:"fence"`
	Attempt  string `json:"attempt_id,omitempty"`
	Deadline string `json:"deadline,omitempty"`
}

// showJSON is the object of writ research and what else is known.
type showJSON struct {
	operationJSON
	Capability     string    `json:"capability"`
	Key            string    `json:"key"`
	CreatedAt      string    `json:"created_at"`
	EndedAt        string    `json:"ended_at,omitempty"`
	InputSHA256    string    `json:"input_sha256"`
	AdmittedSHA256 string    `json:"admitted_sha256"`
	PolicyRevision string    `json:"policy_revision"`
	Jobs           []jobJSON `json:"jobs"`
}

func showView(op *writv1.Operation) showJSON {
	out := showJSON{
		operationJSON: operationView(op), Capability: op.GetCapability(), Key: op.GetIdempotencyKey(),
		CreatedAt: clock(op.GetCreatedAt()), EndedAt: clock(op.GetEndedAt()),
		InputSHA256: op.GetInputSha256(), AdmittedSHA256: op.GetAdmittedSha256(), PolicyRevision: op.GetPolicyRevision(), Jobs: []jobJSON{},
	}
	for _, job := range op.GetJobs() {
		out.Jobs = append(out.Jobs, jobJSON{
			JobID: job.GetJobId(), Kind: job.GetKind(), Slot: job.GetSlot(), State: jobStateName(job.GetState()), Reason: reason.Name(job.GetReason()),
			Detail: job.GetDetail(), Waiting: job.GetWaiting(), Fence: job.GetFence(), Attempt: job.GetAttemptId(), Deadline: clock(job.GetDeadline()),
		})
	}
	return out
}

func (a *app) showOperation(ctx context.Context, id string) (err error) {
	s, err := a.session(mode{passive: true})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, s.close()) }()
	op, err := s.get(ctx, id)
	if err != nil {
		return err
	}
	view := showView(op)
	if a.json {
		a.printJSON(view)
		return nil
	}
	a.printTable([]string{"JOB", "SLOT", "STATE", "FENCE", "WHY"}, len(view.Jobs), func(i int) []string {
		job := view.Jobs[i]
		return []string{job.Kind, fmt.Sprint(job.Slot), job.State, fmt.Sprint(job.Fence), firstText(job.Waiting, job.Detail, job.Reason)}
	})
	a.printTable([]string{"RECEIPT", "SLOT", "STATE", "BOUND", "ACTUAL", "EVIDENCE", "DENIALS"}, len(view.Receipts), func(i int) []string {
		r := view.Receipts[i]
		return []string{r.ReservationID, fmt.Sprint(r.Slot), r.State, fmt.Sprint(r.Bound), fmt.Sprint(r.Actual), r.Evidence, fmt.Sprint(len(r.Denials))}
	})
	a.printResult(op, s.resolved())
	a.exit = exitComplete // the question was what there is, and it was answered
	return nil
}

type eventJSON struct {
	Sequence uint64 `json:"sequence"`
	At       string `json:"at"`
	JobID    string `json:"job_id"`
	Slot     uint32 `json:"slot"`
	Kind     string `json:"kind"`
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Fence    uint64 `json:"fence"`
	After    string `json:"operation_state"`
}

func (a *app) watchOperation(ctx context.Context, id string) (err error) {
	s, err := a.session(mode{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, s.close()) }()
	var after uint64
	err = s.watch(ctx, id, &after, func(e *writv1.OperationEvent) {
		if a.json {
			a.printJSON(eventJSON{
				Sequence: e.GetSequence(), At: clock(e.GetAt()), JobID: e.GetJobId(), Slot: e.GetSlot(), Kind: e.GetKind(), State: jobStateName(e.GetState()),
				Reason: reason.Name(e.GetReason()), Detail: e.GetDetail(), Fence: e.GetFence(), After: stateName(e.GetOperationState()),
			})
			return
		}
		fmt.Fprintf(a.stdout, "%4d  %s  %s\n", e.GetSequence(), clock(e.GetAt()), oneLine(eventWords(e)))
	})
	if err != nil {
		return err
	}
	op, err := s.get(ctx, id)
	if err != nil {
		return err
	}
	a.setExit(op)
	return nil
}

func (a *app) cancelOperation(ctx context.Context, id string) (err error) {
	s, err := a.session(mode{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, s.close()) }()
	var answer *writv1.CancelOperationResponse
	err = s.do(ctx, func(c *client.Client) error {
		var err error
		answer, err = c.Operations.CancelOperation(ctx, &writv1.CancelOperationRequest{OperationId: id})
		return err
	})
	if err != nil {
		return err
	}
	progress := a.progress()
	defer progress.end()
	op, err := a.follow(ctx, s, progress, id, answer.GetOperation().GetSequence(), false)
	if err != nil {
		return err
	}
	if answer.GetOperation().GetState() == op.GetState() && op.GetState() != writv1.OperationState_OPERATION_STATE_CANCELLED {
		progress.note("operation %s had ended before; nothing was cancelled", id)
	} else {
		progress.note("%s", kept(op))
	}
	a.printResult(op, s.resolved())
	if op.GetState() == writv1.OperationState_OPERATION_STATE_CANCELLED {
		a.exit = exitComplete // that was asked for
	}
	return nil
}

func (a *app) resumeOperations(ctx context.Context, ids []string) (err error) {
	s, err := a.session(mode{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, s.close()) }()
	named := len(ids) > 0
	if !named {
		err := s.eachOperation(ctx, 0, func(op *writv1.Operation) {
			if !board.Ended(op.GetState()) {
				ids = append(ids, op.GetOperationId())
			}
		})
		if err != nil {
			return err
		}
	}
	progress := a.progress()
	defer progress.end()
	ended := []*writv1.Operation{}
	for _, id := range ids {
		op, err := a.resume(ctx, s, progress, id)
		if err != nil {
			return err
		}
		ended = append(ended, op)
	}
	progress.end()
	switch {
	case a.json && !(named && len(ids) == 1):
		list := []operationJSON{}
		for _, op := range ended {
			list = append(list, operationView(op))
			a.setExit(op)
		}
		a.printJSON(map[string]any{"operations": list})
	case len(ended) == 0:
		a.say("nothing to resume: every operation has ended")
	default:
		for _, op := range ended {
			a.printResult(op, s.resolved())
		}
	}
	return nil
}

func (a *app) resume(ctx context.Context, s *session, progress *progress, id string) (*writv1.Operation, error) {
	var answer *writv1.ResumeOperationResponse
	err := s.do(ctx, func(c *client.Client) error {
		var err error
		answer, err = c.Operations.ResumeOperation(ctx, &writv1.ResumeOperationRequest{OperationId: id})
		return err
	})
	if err != nil {
		return nil, err
	}
	if board.Ended(answer.GetOperation().GetState()) {
		progress.note("%s has ended; nothing is left to resume", id)
	} else {
		progress.note("resumed %s", id)
	}
	return a.follow(ctx, s, progress, id, answer.GetOperation().GetSequence(), false)
}

func (a *app) setExit(op *writv1.Operation) {
	if op.GetState() != writv1.OperationState_OPERATION_STATE_COMPLETE {
		a.exit = exitUnended
		a.say("writ: %s", outcome(op))
	}
}

func firstText(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
