// Package rank answers a research task with exact sentences of its passages.
//
// It is no language model. Passages are cut into sentences, sentences are scored with BM25 against
// the words of the question and, at a lower weight, of the perspective; the words of the headings
// above a sentence count a little too. The best sentences that add something new become the claims,
// word for word. What it writes itself is one plain note on what was and was not found.
//
// It owns no I/O and no state. It never joins, shortens or rewords a sentence, never selects a
// heading, code, an example, front matter or hidden text, and gives the same bytes for the same
// task: floating point results are rounded before they are compared, and ties fall to the earlier
// sentence.
package rank
