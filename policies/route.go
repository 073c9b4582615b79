package policies

import (
	"fmt"
	"math"
	"math/bits"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// ExtractiveRoute is the built-in route. A file cannot redefine it.
const ExtractiveRoute = "extractive"

// Route says which model answers and what it may cost.
type Route struct {
	Deployment string `json:"deployment" validate:"deployment"`                 // the account that gets the bill
	Plugin     string `json:"plugin" validate:"name"`                           // adapter name
	Model      string `json:"model" validate:"required,maxbytes=256,printable"` // as the adapter knows it
	// Local: the adapter answers in its sandbox and has no network.
	Local bool `json:"local"`
	// Deterministic: the same payload always gives the same bytes.
	Deterministic bool `json:"deterministic"`
	// LanguageModel: the output is generated text; a dossier without one says so.
	LanguageModel bool `json:"language_model"`
	// ReportsCharge: the far end reports what it charged; a call settles from that report alone, and
	// stays Unknown without one.
	ReportsCharge bool  `json:"reports_charge"`
	Price         Price `json:"price"`
}

// Price bounds the cost of a call in micro-USD. Input is priced by bytes, because a prompt never
// has more tokens than bytes while its token count is the provider's secret. Each is ≤ 10^12.
type Price struct {
	PerCall                int64 `json:"per_call" validate:"min=0,max=1000000000000"`
	PerMillionInputBytes   int64 `json:"per_million_input_bytes" validate:"min=0,max=1000000000000"`
	PerMillionOutputTokens int64 `json:"per_million_output_tokens" validate:"min=0,max=1000000000000"`
}

func builtinRoutes() map[string]Route {
	return map[string]Route{ExtractiveRoute: {
		Deployment:    "local/extractive",
		Plugin:        "extractive",
		Model:         "bm25",
		Local:         true,
		Deterministic: true,
	}}
}

// Free reports whether no call of the route can cost anything.
func (r Route) Free() bool { return r.Price == Price{} }

// Bound is B, the most that one call may cost in micro-USD for a prompt of promptBytes and at most
// outputTokens. Each part is rounded up on its own, so that a settlement that rounds its parts up
// never exceeds the bound by rounding. It fails with OUT_OF_RANGE on a negative size and when the
// amount does not fit.
func (r Route) Bound(promptBytes, outputTokens int) (int64, error) {
	input, err := scale(promptBytes, r.Price.PerMillionInputBytes)
	if err != nil {
		return 0, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "prompt_bytes", "bound of one call: %w", err)
	}
	output, err := scale(outputTokens, r.Price.PerMillionOutputTokens)
	if err != nil {
		return 0, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "output_tokens", "bound of one call: %w", err)
	}
	total := r.Price.PerCall
	if total < 0 {
		return 0, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "price.per_call", "%d is negative", total)
	}
	for _, part := range []int64{input, output} {
		if part > math.MaxInt64-total {
			return 0, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "price", "the bound of one call overflows")
		}
		total += part
	}
	return total, nil
}

// scale is ceil(count × perMillion / 10^6).
func scale(count int, perMillion int64) (int64, error) {
	const million = 1_000_000
	if count < 0 || perMillion < 0 {
		return 0, fmt.Errorf("%d × %d is negative", count, perMillion)
	}
	hi, lo := bits.Mul64(uint64(count), uint64(perMillion))
	if hi >= million {
		return 0, fmt.Errorf("%d × %d overflows", count, perMillion)
	}
	quotient, rest := bits.Div64(hi, lo, million)
	if quotient >= math.MaxInt64 {
		return 0, fmt.Errorf("%d × %d overflows", count, perMillion)
	}
	if rest > 0 {
		quotient++
	}
	return int64(quotient), nil
}
