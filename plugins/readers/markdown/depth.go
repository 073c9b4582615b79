package main

const (
	// maxDepth is how many quotes and list items may hold each other. The parser walks its tree by
	// recursion and a stack overflow cannot be recovered, so deeper text never reaches it.
	maxDepth = 64
	// maxOpen bounds the sum over all lines of the containers that may be open on each: the
	// parser keeps a record of about 24 bytes for every one of them, twice for a list item.
	maxOpen = 1 << 19
)

// tooDeep reports whether the text may nest beyond the bounds. It never says no to a text that
// does; it may say yes to one that only looks so, in a code block for example.
//
// A line keeps an open list item only by two columns of space or more and an open quote only by a
// ">", and opens a container only by its marker. So a line can have no more containers open than
// its own prefix has room for, and no more than the lines before it opened plus its own markers.
func tooDeep(lines *columns) bool {
	deepest, open := 0, 0
	for n := range lines.count() {
		depth := deepest
		if !lines.blank(n) {
			spaces, markers := prefix(lines.line(n))
			depth = min(deepest, spaces/2) + markers
		}
		deepest = max(deepest, depth)
		open += depth
		if deepest > maxDepth || open > maxOpen {
			return true
		}
	}
	return false
}

// prefix counts the spaces and the container markers that a line starts with.
func prefix(line []byte) (spaces, markers int) {
	rule := -1
	for at := 0; at < len(line); at++ {
		switch c := line[at]; {
		case c == ' ':
			spaces++
		case c == '>':
			markers++
		case c == '-' || c == '+' || c == '*':
			if rule < 0 {
				rule = ruleStart(line)
			}
			if at >= rule || !ends(line, at+1) {
				return spaces, markers
			}
			markers++
		case c >= '0' && c <= '9':
			end := at + 1
			for end < len(line) && line[end] >= '0' && line[end] <= '9' {
				end++
			}
			if end == len(line) || line[end] != '.' && line[end] != ')' || !ends(line, end+1) {
				return spaces, markers
			}
			markers++
			at = end
		default:
			return spaces, markers
		}
	}
	return spaces, markers
}

func ends(line []byte, at int) bool {
	return at >= len(line) || line[at] == ' ' || line[at] == '\n'
}

// ruleStart is where the thematic break starts that ends the line; a line without one gets its
// length. A break such as "- - -" opens no list.
func ruleStart(line []byte) int {
	start, marks, mark := len(line), 0, byte(0)
	for at := len(line) - 1; at >= 0; at-- {
		switch c := line[at]; {
		case c == ' ' || c == '\t' || c == '\n':
			continue
		case c != '-' && c != '*' || mark != 0 && c != mark:
			at = 0
		default:
			mark = c
			if marks++; marks >= 3 {
				start = at
			}
		}
	}
	return start
}
