// Command markdown is the reader for Markdown: the block structure of CommonMark 0.31, front matter
// at the first byte, commented text marked hidden, and tables in GFM's form.
//
// goldmark parses the blocks; inline syntax is never parsed, so a heading's title is its raw text
// without closing marks. Four of goldmark's parts are stood in for where they depart from the
// standard or cost quadratic time: tabs (columns.go), HTML blocks (htmlblock.go), empty list items
// (emptyitem.go) and link reference definitions (linkref.go).
//
// Invariants:
//   - Segments cover every code point once, in order, none empty.
//   - Only headings at document level govern what follows them. A heading in a quote or a list item
//     is a heading segment and nobody's ancestor: it must not relabel what stands outside.
//   - Nesting, and the work nesting causes, is bounded before the parser starts. Beyond the bound
//     the text is cut flat, at blank lines, and a nesting_limit diagnostic says so.
//   - Work is linear in the size of the text.
package main
