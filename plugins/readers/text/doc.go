// Command text is the reader for plain text: paragraphs parted by blank lines, and nothing else.
// Plain text has no headings to be wrong about, so every paragraph is body and none has ancestry.
//
// Segments are whole lines, cover the text exactly once in order, and are never empty. A line is
// blank when it holds only spaces, tabs and form feeds; U+2028 and the like end no line and are
// words like any other. When the answer would pass the host's output limit, the whole text becomes
// one paragraph and a segment_limit diagnostic says so: nothing is dropped.
package main
