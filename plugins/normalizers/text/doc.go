// Command text is the normalizer text.v1: strict UTF-8 in, the text that every offset, line and
// quote refers to out, with the map back to raw bytes.
//
// The rules never change; a new rule is a new normalizer. One BOM at the very start is removed and
// later ones are kept. LF, CRLF and a lone CR each become one LF; VT, NEL, U+2028 and U+2029 end no
// line. An ill-formed byte, NUL, and every C0 control but TAB, LF, FF (and CR, as a line end) is
// refused at its byte offset and nothing is ever repaired. Everything else passes as it is.
package main
