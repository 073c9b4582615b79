package main

import "bytes"

// columns is a text as the block parser sees it, line by line, with the way back to the text.
//
// Two things differ from the text. Tabs that count for block structure are spaces up to the next
// stop of four, as CommonMark defines them; goldmark measures some tabs within nested lists from
// the wrong column. A run of blank lines is one line, which means the same and keeps goldmark's
// memory in step with the text.
type columns struct {
	text   []byte
	source []byte
	lines  []int // where each line starts in source, counted from base, and the end
	starts []int // where each line starts in text, and the end
	base   int
}

// newColumns prepares text from the byte offset from on.
func newColumns(text []byte, from int) *columns {
	c := &columns{text: text, source: make([]byte, 0, len(text)-from+64)}
	wasBlank := false
	for at := from; at < len(text); {
		end := len(text)
		if lf := bytes.IndexByte(text[at:], '\n'); lf >= 0 {
			end = at + lf + 1
		}
		blank := isBlank(text[at:end])
		if !blank || !wasBlank {
			c.lines = append(c.lines, len(c.source))
			c.starts = append(c.starts, at)
			c.append(text[at:end], blank)
		}
		wasBlank, at = blank, end
	}
	c.lines = append(c.lines, len(c.source))
	c.starts = append(c.starts, len(text))
	return c
}

func (c *columns) append(line []byte, blank bool) {
	if blank {
		c.source = append(c.source, '\n')
		return
	}
	column, at := 0, 0
	for ; at < len(line) && structural(line[at]); at++ {
		if line[at] != '\t' {
			c.source = append(c.source, line[at])
			column++
			continue
		}
		for next := column - column%4 + 4; column < next; column++ {
			c.source = append(c.source, ' ')
		}
	}
	c.source = append(c.source, line[at:]...)
}

// structural bytes may stand before or within a container's marker, where a tab's width matters.
func structural(b byte) bool {
	switch b {
	case ' ', '\t', '>', '-', '+', '*', '.', ')':
		return true
	}
	return b >= '0' && b <= '9'
}

func isBlank(line []byte) bool { return len(bytes.Trim(line, " \t\n")) == 0 }

func (c *columns) count() int       { return len(c.lines) - 1 }
func (c *columns) start(n int) int  { return c.starts[n] }
func (c *columns) blank(n int) bool { return c.source[c.lines[n]-c.base] == '\n' }

// line is line n of the source, with its LF if it has one.
func (c *columns) line(n int) []byte { return c.source[c.lines[n]-c.base : c.lines[n+1]-c.base] }

// from is the text from line n on.
func (c *columns) from(n int) *columns {
	return &columns{text: c.text, source: c.source[c.lines[n]-c.base:], lines: c.lines[n:], starts: c.starts[n:], base: c.lines[n]}
}

// to is the text before line n.
func (c *columns) to(n int) *columns {
	return &columns{text: c.text, source: c.source, lines: c.lines[:n+1], starts: c.starts[:n+1], base: c.base}
}

// at is the line that holds an offset of the source.
func (c *columns) at(offset int) int {
	low, high := 0, c.count()
	for low < high {
		middle := (low + high) / 2
		if c.lines[middle+1]-c.base <= offset {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return min(low, c.count()-1)
}

// original is the text behind a part of one line of the source.
func (c *columns) original(start, stop int) []byte {
	n := c.at(start)
	line := c.text[c.starts[n]:c.starts[n+1]]
	head := c.lines[n] - c.base
	return line[back(line, start-head):back(line, stop-head)]
}

// back is the offset in a line of the text of a column in the same line of the source. Only tabs
// before the first byte that is not structural differ in width.
func back(line []byte, column int) int {
	at, width := 0, 0
	for at < len(line) && width < column && structural(line[at]) {
		if line[at] == '\t' {
			width += 4 - width%4
		} else {
			width++
		}
		at++
	}
	return min(len(line), at+max(0, column-width))
}
