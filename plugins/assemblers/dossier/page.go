package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/visible"
)

const (
	width     = 100      // columns that words are wrapped to; a longer word stands alone
	wordMark  = "    > " // before the words of a caller, a slot or the host
	quoteMark = "    | " // before a source's words
)

// page collects lines. Each of its methods writes whole lines for one voice.
type page struct {
	text  bytes.Buffer
	count int
}

func (p *page) write(line string) {
	p.text.WriteString(line)
	p.text.WriteByte('\n')
	p.count++
}

// line is the number of the line that comes next.
func (p *page) line() int { return p.count + 1 }

func (p *page) blank() { p.write("") }

// section starts a part of the dossier.
func (p *page) section(title string) {
	if p.count > 0 {
		p.blank()
	}
	p.write(title)
	p.write(strings.Repeat("=", len(title)))
}

// say writes a sentence of the dossier's own. It takes numbers only: a name of others, wrapped, could
// start a line.
func (p *page) say(format string, numbers ...int) {
	args := make([]any, len(numbers))
	for i, n := range numbers {
		args[i] = n
	}
	for _, line := range wrap(fmt.Sprintf(format, args...), width) {
		p.write(line)
	}
}

// item writes one line of the dossier's own under what was said before. Strings of others go in by
// way of name.
func (p *page) item(format string, args ...any) { p.write("  " + fmt.Sprintf(format, args...)) }

// words writes others' free words: line breaks stay, long lines are wrapped, and a tab, which could
// fake columns, is shown as one.
func (p *page) words(s string) {
	for line := range strings.SplitSeq(visible.Text(s), "\n") {
		for _, part := range wrap(strings.ReplaceAll(line, "\t", `\u{0009}`), width-len(wordMark)) {
			p.write(wordMark + part)
		}
	}
}

// quote writes quoted words behind a mark: line breaks and tabs stay, and nothing is wrapped, so that
// the quote can be read back from behind it.
func (p *page) quote(mark, s string) {
	for line := range strings.SplitSeq(visible.Text(s), "\n") {
		p.write(mark + line)
	}
}

// wrap breaks a line at single spaces.
func wrap(line string, columns int) []string {
	var lines []string
	at, size := "", 0
	for i, word := range strings.Split(line, " ") {
		n := utf8.RuneCountInString(word)
		if i > 0 && size+1+n > columns {
			lines = append(lines, at)
			at, size = word, n
			continue
		}
		if i > 0 {
			at, size = at+" ", size+1
		}
		at, size = at+word, size+n
	}
	return append(lines, at)
}
