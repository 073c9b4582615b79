package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/timestamppb"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/visible"
)

// The JSON form of an operation. Numbers are numbers; times are RFC 3339 in UTC; money is micro-USD.
type (
	operationJSON struct {
		OperationID string          `json:"operation_id"`
		State       string          `json:"state"`
		Reason      string          `json:"reason,omitempty"`
		Detail      string          `json:"detail,omitempty"`
		Deadline    string          `json:"deadline"`
		Dossier     *dossierJSON    `json:"dossier"`
		Manifest    json.RawMessage `json:"manifest"`
		Claims      []claimJSON     `json:"claims"`
		Money       moneyJSON       `json:"money"`
		Receipts    []receiptJSON   `json:"receipts"`
	}
	dossierJSON struct {
		Artifact string `json:"artifact"`
		SHA256   string `json:"sha256"`
		Text     string `json:"text"`
	}
	claimJSON struct {
		Slot      uint32         `json:"slot"`
		Text      string         `json:"text"`
		Adopted   bool           `json:"adopted"`
		Citations []citationJSON `json:"citations"`
	}
	citationJSON struct {
		Source     string `json:"source"`
		Name       string `json:"name"`
		RawSHA256  string `json:"raw_sha256"`
		TextSHA256 string `json:"text_sha256"`
		Normalizer string `json:"normalizer"`
		Start      uint32 `json:"start"`
		End        uint32 `json:"end"`
		RawStart   uint32 `json:"raw_start"`
		RawEnd     uint32 `json:"raw_end"`
		FromLine   uint32 `json:"from_line"`
		ToLine     uint32 `json:"to_line"`
		Passage    string `json:"passage"`
		Quote      string `json:"quote"`
		SpanSHA256 string `json:"span_sha256"`
		Status     string `json:"status"`
		SourceText string `json:"source_text,omitempty"`
	}
	moneyJSON struct {
		Allowance int64 `json:"allowance"`
		Reserved  int64 `json:"reserved"`
		Contacted int64 `json:"contacted"`
		Settled   int64 `json:"settled"`
		Unknown   int64 `json:"unknown"`
	}
	receiptJSON struct {
		ReservationID  string       `json:"reservation_id"`
		Slot           uint32       `json:"slot"`
		State          string       `json:"state"`
		Deployment     string       `json:"deployment"`
		Route          string       `json:"route"`
		Period         string       `json:"period"`
		Bound          int64        `json:"bound"`
		Actual         int64        `json:"actual"`
		Evidence       string       `json:"evidence"`
		PayloadSHA256  string       `json:"payload_sha256"`
		ResponseSHA256 string       `json:"response_sha256"`
		ProviderSHA256 string       `json:"provider_sha256"`
		ContactedAt    string       `json:"contacted_at,omitempty"`
		Denials        []denialJSON `json:"denials"`
	}
	denialJSON struct {
		Reason string `json:"reason"`
		Detail string `json:"detail"`
		At     string `json:"at"`
	}
)

func operationView(op *writv1.Operation) operationJSON {
	out := operationJSON{
		OperationID: op.GetOperationId(), State: stateName(op.GetState()),
		Reason: reason.Name(op.GetReason()), Detail: op.GetDetail(), Deadline: clock(op.GetDeadline()),
		Claims: []claimJSON{}, Receipts: []receiptJSON{},
		Money: moneyJSON{
			Allowance: op.GetMoney().GetAllowance(), Reserved: op.GetMoney().GetReserved(), Contacted: op.GetMoney().GetContacted(),
			Settled: op.GetMoney().GetSettled(), Unknown: op.GetMoney().GetUnknown(),
		},
	}
	if result := op.GetResearch(); result != nil {
		out.Dossier = &dossierJSON{Artifact: result.GetDossier().GetArtifact(), SHA256: result.GetDossier().GetSha256(), Text: result.GetText()}
		if manifest := result.GetManifestJson(); json.Valid([]byte(manifest)) {
			out.Manifest = json.RawMessage(manifest)
		}
		for _, claim := range result.GetClaims() {
			out.Claims = append(out.Claims, claimView(claim))
		}
	}
	for _, r := range op.GetReceipts() {
		out.Receipts = append(out.Receipts, receiptView(r))
	}
	return out
}

func claimView(claim *writv1.ResearchClaim) claimJSON {
	out := claimJSON{Slot: claim.GetSlot(), Text: claim.GetText(), Adopted: claim.GetAdopted(), Citations: []citationJSON{}}
	for _, c := range claim.GetCitations() {
		out.Citations = append(out.Citations, citationJSON{
			Source: c.GetSource(), Name: c.GetName(), RawSHA256: c.GetRawSha256(), TextSHA256: c.GetTextSha256(), Normalizer: c.GetNormalizer(),
			Start: c.GetStart(), End: c.GetEnd(), RawStart: c.GetRawStart(), RawEnd: c.GetRawEnd(), FromLine: c.GetFromLine(), ToLine: c.GetToLine(),
			Passage: c.GetPassage(), Quote: c.GetQuote(), SpanSHA256: c.GetSpanSha256(), Status: c.GetStatus(), SourceText: c.GetSourceText(),
		})
	}
	return out
}

func receiptView(r *writv1.Receipt) receiptJSON {
	out := receiptJSON{
		ReservationID: r.GetReservationId(), Slot: r.GetSlot(), State: r.GetState(), Deployment: r.GetDeployment(), Route: r.GetRoute(), Period: r.GetPeriod(),
		Bound: r.GetBound(), Actual: r.GetActual(), Evidence: r.GetEvidence(), PayloadSHA256: r.GetPayloadSha256(), ResponseSHA256: r.GetResponseSha256(),
		ProviderSHA256: r.GetProviderSha256(), ContactedAt: clock(r.GetContactedAt()), Denials: []denialJSON{},
	}
	for _, d := range r.GetDenials() {
		out.Denials = append(out.Denials, denialJSON{Reason: reason.Name(d.GetReason()), Detail: d.GetDetail(), At: clock(d.GetAt())})
	}
	return out
}

// printJSON writes v on one line. Characters that a terminal would obey or hide are escaped, which
// changes nothing of the value.
func (a *app) printJSON(v any) {
	var raw strings.Builder
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		a.say("writ: the result cannot be shown as JSON: %v", err)
		a.exit = exitFault
		return
	}
	out := bufio.NewWriter(a.stdout)
	for _, r := range raw.String() {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			out.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(out, `\u%04x`, r)
		}
	}
	a.flush(out)
}

// printResult shows an operation that ended: the dossier if there is one, where its files lie, what
// it cost. The exit code follows its state.
func (a *app) printResult(op *writv1.Operation, dir string) {
	if op.GetState() != writv1.OperationState_OPERATION_STATE_COMPLETE {
		a.exit = exitUnended
		defer func() { a.say("writ: %s", outcome(op)) }()
	}
	if op.GetResearch() == nil && (op.GetState() == writv1.OperationState_OPERATION_STATE_COMPLETE || op.GetState() == writv1.OperationState_OPERATION_STATE_INCOMPLETE) {
		a.exit = exitUnended
		defer a.say("writ: the result of %s is not shown: %s", op.GetOperationId(), visible.Text(firstText(op.GetDetail(), "a source that it discloses may not be read now")))
	}
	if a.json {
		a.printJSON(operationView(op))
		return
	}
	out := bufio.NewWriter(a.stdout)
	if result := op.GetResearch(); result != nil {
		text := result.GetText()
		if !visible.Safe(text) {
			text = visible.Text(text)
		}
		fmt.Fprintln(out, strings.TrimSuffix(text, "\n"))
		fmt.Fprintln(out)
		printArtifact(out, "dossier", dir, result.GetDossier())
		printArtifact(out, "manifest", dir, result.GetManifest())
	}
	fmt.Fprintf(out, "%-10s %s\n", "operation", visible.Text(op.GetOperationId()))
	fmt.Fprintf(out, "%-10s %s\n", "state", stateName(op.GetState()))
	fmt.Fprintf(out, "%-10s %s\n", "money", moneyLine(op.GetMoney()))
	a.flush(out)
}

func printArtifact(out io.Writer, label, dir string, ref *writv1.ArtifactRef) {
	fmt.Fprintf(out, "%-10s %s\n", label, visible.Text(filepath.Join(dir, ref.GetPath())))
	fmt.Fprintf(out, "%-10s sha256 %s, %d bytes\n", "", visible.Text(ref.GetSha256()), ref.GetSize())
}

func moneyLine(m *writv1.Money) string {
	return fmt.Sprintf("allowance %d micro-USD: settled %d, reserved %d, contacted %d, unknown %d",
		m.GetAllowance(), m.GetSettled(), m.GetReserved(), m.GetContacted(), m.GetUnknown())
}

func (a *app) flush(out *bufio.Writer) {
	if err := out.Flush(); err != nil {
		a.say("writ: the result could not be written: %v", err)
		a.exit = exitFault
	}
}

func stateName(state writv1.OperationState) string {
	return strings.ToLower(strings.TrimPrefix(state.String(), "OPERATION_STATE_"))
}

func jobStateName(state writv1.JobState) string {
	return strings.ToLower(strings.TrimPrefix(state.String(), "JOB_STATE_"))
}

// clock is a time as RFC 3339 in UTC, or nothing.
func clock(at *timestamppb.Timestamp) string {
	if at == nil {
		return ""
	}
	return at.AsTime().UTC().Format(time.RFC3339Nano)
}
