package policies

import (
	"math"
	"math/big"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

func TestBoundIsRoundedUp(t *testing.T) {
	cases := map[string]struct {
		price          Price
		prompt, output int
		want           int64
	}{
		"free":                   {Price{}, 8192, 1024, 0},
		"per call alone":         {Price{PerCall: 5}, 0, 0, 5},
		"exact":                  {Price{PerMillionInputBytes: 1_000_000}, 8192, 0, 8192},
		"one part in a million":  {Price{PerMillionInputBytes: 1}, 1, 0, 1},
		"just above a whole":     {Price{PerMillionInputBytes: 1}, 1_000_001, 0, 2},
		"each part by itself":    {Price{PerCall: 1, PerMillionInputBytes: 1, PerMillionOutputTokens: 1}, 1, 1, 3},
		"price without quantity": {Price{PerMillionInputBytes: 9, PerMillionOutputTokens: 9}, 0, 0, 0},
		"beyond 64 bits between": {Price{PerMillionOutputTokens: 1_000_000_000_000}, 0, math.MaxInt32, math.MaxInt32 * 1_000_000},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Route{Price: c.price}.Bound(c.prompt, c.output)
			if err != nil || got != c.want {
				t.Errorf("got %d, %v, want %d", got, err, c.want)
			}
		})
	}
}

func TestABoundThatDoesNotFitIsRefused(t *testing.T) {
	cases := map[string]struct {
		price          Price
		prompt, output int
	}{
		"negative prompt":     {Price{}, -1, 0},
		"negative output":     {Price{}, 0, -1},
		"negative price":      {Price{PerMillionInputBytes: -1}, 1, 0},
		"negative call":       {Price{PerCall: -1}, 1, 0},
		"one product":         {Price{PerMillionInputBytes: math.MaxInt64}, math.MaxInt64, 0},
		"just 2^63":           {Price{PerMillionInputBytes: math.MaxInt64}, 1_000_001, 0},
		"just 2^63 of output": {Price{PerMillionOutputTokens: math.MaxInt64}, 0, 1_000_001},
		"the sum":             {Price{PerCall: math.MaxInt64, PerMillionOutputTokens: 1}, 0, 1},
		"sum of parts":        {Price{PerMillionInputBytes: math.MaxInt64 - 1, PerMillionOutputTokens: math.MaxInt64 - 1}, 1_000_000, 1_000_000},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got, err := (Route{Price: c.price}).Bound(c.prompt, c.output); got != 0 || !reason.Is(err, writv1.Reason_REASON_OUT_OF_RANGE) {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}

func FuzzBoundEqualsExactArithmetic(f *testing.F) {
	f.Add(int64(1), int64(2), int64(3), 4, 5)
	f.Add(int64(0), int64(math.MaxInt64), int64(1), 1_000_000, 1)
	f.Fuzz(func(t *testing.T, call, in, out int64, prompt, tokens int) {
		got, err := Route{Price: Price{call, in, out}}.Bound(prompt, tokens)
		if call < 0 || in < 0 || out < 0 || prompt < 0 || tokens < 0 {
			if err == nil {
				t.Fatal("a negative value was accepted")
			}
			return
		}
		ceil := func(n int, price int64) *big.Int {
			v := new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(price))
			v.Add(v, big.NewInt(999_999))
			return v.Div(v, big.NewInt(1_000_000))
		}
		want := new(big.Int).Add(big.NewInt(call), ceil(prompt, in))
		want.Add(want, ceil(tokens, out))
		if err == nil && big.NewInt(got).Cmp(want) != 0 {
			t.Fatalf("got %d, want %s", got, want)
		}
		if err != nil && want.Cmp(big.NewInt(math.MaxInt64-2)) < 0 {
			t.Fatalf("%s fits but: %v", want, err)
		}
	})
}
