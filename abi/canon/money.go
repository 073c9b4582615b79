package canon

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
)

// MicroPerUSD is how many micro-USD make one USD.
const MicroPerUSD = 1_000_000

// ErrMoney is returned for every literal that is not a non-negative, finite, bounded decimal number.
var ErrMoney = errors.New("not a charge literal")

// A charge literal is a JSON number without a sign. The exponent is kept to two digits and the
// whole to 64 bytes so that exact arithmetic stays cheap on hostile input.
var moneyLiteral = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$`)

const maxMoneyLiteral = 64

// ParseUSD reads a charge in USD from its literal text by exact decimal arithmetic and returns
// micro-USD, rounded up: a fraction of a micro-USD that was charged is never lost.
func ParseUSD(literal string) (int64, error) {
	if len(literal) > maxMoneyLiteral || !moneyLiteral.MatchString(literal) {
		return 0, fmt.Errorf("%w: %.70q", ErrMoney, literal)
	}
	amount, ok := new(big.Rat).SetString(literal)
	if !ok {
		return 0, fmt.Errorf("%w: %.70q", ErrMoney, literal)
	}
	amount.Mul(amount, big.NewRat(MicroPerUSD, 1))
	quotient, rest := new(big.Int).QuoRem(amount.Num(), amount.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	if !quotient.IsInt64() || quotient.Int64() == math.MaxInt64 {
		return 0, fmt.Errorf("%w: %.70q overflows", ErrMoney, literal)
	}
	return quotient.Int64(), nil
}
