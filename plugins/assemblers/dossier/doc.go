// Command dossier is the assembler dossier.v1: it words the decided facts of a research operation
// as plain text, and says on which lines each claim and each quote stands.
//
// It decides nothing. What it is given is checked for the promises a dossier makes, and a manifest
// that breaks one is refused: a complete dossier has only complete children, and an adopted claim
// has only verified quotes. It drops nothing either: a text over 64 KiB is an error.
//
// Every line of the text tells by its first six bytes who speaks. A child's, caller's or host's
// free words follow six spaces, a source's words follow "    | ", and all other lines are the
// dossier's own, indented by four spaces at most. So no words of others can pass for the dossier's,
// whatever they hold. Names and codes within the dossier's own lines are quoted unless they are
// plain. Controls, bidirectional and invisible characters of others show as \u{202E}; a "\u{" that
// was there before shows as \u{5C}u{, so an escape can be told from words.
//
// The same manifest gives the same bytes. Claims are numbered SLOT.CLAIM and quotes
// SLOT.CLAIM.QUOTE, from 1, in the manifest's order.
package main
