package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/visible"
)

// progress tells on stderr what happens: one live line on a terminal, one line per step otherwise.
type progress struct {
	app   *app
	quiet bool
	live  bool // a line without its end is on the terminal
}

// progress is silent when a program reads: with --json and no terminal.
func (a *app) progress() *progress { return &progress{app: a, quiet: a.json && !a.terminal} }

// note prints a line that stays.
func (p *progress) note(format string, args ...any) {
	if p.quiet {
		return
	}
	p.end()
	p.app.say("%s", visible.Text(fmt.Sprintf(format, args...)))
}

func (p *progress) event(e *writv1.OperationEvent) { p.step(eventWords(e)) }

// step shows what is going on now.
func (p *progress) step(text string) {
	if p.quiet {
		return
	}
	line := oneLine(text)
	if !p.app.terminal {
		p.app.say("%s", line)
		return
	}
	fmt.Fprintf(p.app.stderr, "\r\x1b[K%s", fit(line, p.app.width-1))
	p.live = true
}

// end leaves the live line as it is and starts a new one.
func (p *progress) end() {
	if p.live {
		fmt.Fprintln(p.app.stderr)
		p.live = false
	}
}

// eventWords says one event in people's words.
func eventWords(e *writv1.OperationEvent) string {
	who := "dossier"
	if e.GetSlot() > 0 {
		who = fmt.Sprintf("slot %d", e.GetSlot())
	}
	what, known := eventKinds[e.GetKind()]
	if !known {
		what = e.GetKind()
	}
	if e.GetKind() == "pause" {
		if waiting, ok := waitingWords[e.GetReason()]; ok {
			what = waiting
		}
	} else if name := reason.Name(e.GetReason()); name != "" {
		what += ": " + name
	}
	if e.GetDetail() != "" {
		what += " (" + e.GetDetail() + ")"
	}
	return who + ": " + what
}

var eventKinds = map[string]string{
	"created":        "admitted",
	"claim":          "working",
	"pause":          "waiting",
	"block":          "blocked",
	"succeed":        "done",
	"fail":           "failed",
	"unknown":        "outcome unknown",
	"cancel":         "cancelling",
	"quiesce":        "cancelled",
	"retry":          "trying again",
	"lease_lost":     "taken over from a process that is gone",
	"funded":         "money reserved",
	"contacted":      "asking the model",
	"contact_denied": "not allowed to ask the model",
	"settled":        "answer received and paid",
	"cost_unknown":   "cost unknown, kept on hold",
}

var waitingWords = map[reason.Code]string{
	writv1.Reason_REASON_RESEARCH_WAIT_SOURCES:  "waiting for sources",
	writv1.Reason_REASON_RESEARCH_PROMPT_READY:  "prompt ready, waiting for money",
	writv1.Reason_REASON_RESEARCH_WAIT_CHILDREN: "waiting for the slots",
}

// oneLine makes text safe to print on a single line.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(visible.Text(text))
}

// fit cuts a line to a number of code points; the texts shown here are narrow ones.
func fit(line string, columns int) string {
	if utf8.RuneCountInString(line) <= columns {
		return line
	}
	return string([]rune(line)[:max(columns-1, 0)]) + "…"
}
