package main

import "fmt"

// usd writes micro-USD as USD with all six decimals.
func usd(micro int64) string {
	sign, abs := "", uint64(micro)
	if micro < 0 {
		sign, abs = "-", -abs
	}
	return fmt.Sprintf("%s%d.%06d", sign, abs/1_000_000, abs%1_000_000)
}

// amount writes micro-USD both ways.
func amount(micro int64) string { return fmt.Sprintf("%d micro-USD (%s USD)", micro, usd(micro)) }
