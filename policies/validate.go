package policies

import (
	"errors"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/go-playground/validator/v10"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

var (
	namePattern       = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	deploymentPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._/-]{0,127}$`)
	mapKey            = regexp.MustCompile(`\[([^\]]*)\]`)
)

// rules is built once, on first use; a validator caches what it learns about each struct.
var rules = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string { return f.Tag.Get("json") })
	for tag, fn := range map[string]validator.Func{
		"name":       func(fl validator.FieldLevel) bool { return namePattern.MatchString(fl.Field().String()) },
		"deployment": func(fl validator.FieldLevel) bool { return deploymentPattern.MatchString(fl.Field().String()) },
		"printable": func(fl validator.FieldLevel) bool {
			return strings.IndexFunc(fl.Field().String(), unicode.IsControl) < 0
		},
		// The library's max counts code points; Writ's sizes are bytes.
		"maxbytes": func(fl validator.FieldLevel) bool {
			limit, err := strconv.Atoi(fl.Param())
			return err == nil && len(fl.Field().String()) <= limit
		},
	} {
		if err := v.RegisterValidation(tag, fn); err != nil {
			panic(err) // only an empty tag or a nil function, both fixed above
		}
	}
	return v
})

// check applies the struct tags and reports the first breach by field path.
func check(p *Policy) error {
	err := rules().Struct(p)
	if err == nil {
		return nil
	}
	var breaches validator.ValidationErrors
	if !errors.As(err, &breaches) {
		return reason.New(writv1.Reason_REASON_INTERNAL, "policy rules: %w", err)
	}
	b := breaches[0]
	field := fieldPath(b.Namespace())
	switch b.Tag() {
	case "min":
		return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, field, "%v is below the minimum %s", size(b.Value()), b.Param())
	case "max":
		return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, field, "%v is above the hard ceiling %s", size(b.Value()), b.Param())
	case "gtfield":
		return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, field, "%v does not exceed research.assembly_reserve_seconds", b.Value())
	case "maxbytes":
		return reason.Field(writv1.Reason_REASON_TOO_LARGE, field, "longer than %s bytes", b.Param())
	case "required":
		return reason.Field(writv1.Reason_REASON_MISSING_FIELD, field, "may not be empty")
	case "printable":
		return reason.Field(writv1.Reason_REASON_INVALID_INPUT, field, "holds a control character")
	case "deployment":
		return nameError(field, b.Value(), deploymentPattern)
	default:
		return nameError(field, b.Value(), namePattern)
	}
}

func nameError(field string, value any, pattern *regexp.Regexp) error {
	if value == "" {
		return reason.Field(writv1.Reason_REASON_MISSING_FIELD, field, "may not be empty")
	}
	return reason.Field(writv1.Reason_REASON_INVALID_INPUT, field, "%.80q does not match %s", value, pattern)
}

// size is what a bound was compared with: the number itself, or the length of a collection.
func size(value any) any {
	if v := reflect.ValueOf(value); v.Kind() == reflect.Map {
		return v.Len()
	}
	return value
}

// fieldPath turns the library's Policy.routes[x].plugin into the file's routes.x.plugin.
func fieldPath(namespace string) string {
	_, path, _ := strings.Cut(namespace, ".")
	return mapKey.ReplaceAllString(path, ".$1")
}
