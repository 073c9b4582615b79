// Command dossier is the assembler dossier.v1: it words the decided facts of a research operation
// as plain text, and says on which lines each claim and each quote stands.
//
// It decides nothing. What it is given is checked for the promises a dossier makes, and a manifest
// that breaks one is refused with bad_input: a complete dossier has only complete slots, and an
// adopted claim has only verified quotes. It drops nothing either: a text over 64 KiB is refused with
// output_limit.
//
// Every line of the text tells by its first six bytes who speaks. Words of a caller, a slot or the
// host stand behind "    > ", words that were found in a source behind "    | ", and all other lines
// are the dossier's own. So no words of others can pass for the dossier's, whatever they hold, and
// no quote that was not found can pass for a source's. Names and codes within the dossier's own lines
// are quoted unless they are plain. What hides or reorders words shows as abi/visible has it.
//
// The same manifest gives the same bytes. Claims are numbered SLOT.CLAIM, their quotes
// SLOT.CLAIM.QUOTE and contradictions cSLOT.NUMBER, from 1, in the manifest's order. Sources are
// numbered S1, S2 and so on.
package main
