package main

import (
	"regexp"
	"strconv"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// sourceSpec is one --source, --slot1 or --slot2: FILE or FILE:FROM-TO.
type sourceSpec struct {
	field    string // as refusals call it, for example source[0]
	text     string // as it was given
	path     string
	from, to uint32 // 0, 0 is the whole file
}

var (
	rangeSuffix = regexp.MustCompile(`^(.*):([0-9]+)-([0-9]+)$`)
	// A suffix of digits and dashes alone was meant as a range; as part of a file's name it would be
	// very unusual, and reading the whole file instead would approve more than was said.
	rangeLike = regexp.MustCompile(`:[0-9-]*$`)
)

func parseSource(field, text string) (sourceSpec, error) {
	spec := sourceSpec{field: field, text: text, path: text}
	if parts := rangeSuffix.FindStringSubmatch(text); parts != nil {
		from, fromErr := strconv.ParseUint(parts[2], 10, 32)
		to, toErr := strconv.ParseUint(parts[3], 10, 32)
		switch {
		case fromErr != nil || toErr != nil:
			return spec, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, field, "%s: there are no such lines", text)
		case from < 1:
			return spec, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, field, "%s: lines count from 1", text)
		case to < from:
			return spec, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, field, "%s: line %d comes before line %d", text, to, from)
		}
		spec.path, spec.from, spec.to = parts[1], uint32(from), uint32(to)
	} else if rangeLike.MatchString(text) {
		return spec, reason.Field(writv1.Reason_REASON_INVALID_INPUT, field, "%s: the line range is not complete", text).WithNext("Write FILE:FROM-TO, for example README.md:1-40, or FILE alone.")
	}
	if spec.path == "" {
		return spec, reason.Field(writv1.Reason_REASON_MISSING_FIELD, field, "no file is named").WithNext("Write FILE or FILE:FROM-TO.")
	}
	return spec, nil
}
