package rank

// MaxClaims is how many sentences an answer holds at most; fewer when fewer are relevant.
const MaxClaims = 6

const (
	noveltyPrice = 0.5 // share of the best score that full repetition costs
	sameContent  = 0.8 // overlap from which a sentence adds nothing
)

// choose picks the best sentences that add something to those already picked (maximal marginal
// relevance), best first; the earlier sentence wins a tie.
func choose(list []scored, q []queryTerm) []scored {
	best := 0.0
	for _, s := range list {
		best = max(best, s.score)
	}
	var open []scored
	for _, s := range list {
		if s.coverage >= floorCoverage && s.score >= best*floorBest && s.answers(q) {
			open = append(open, s)
		}
	}
	var picked []scored
	for len(picked) < MaxClaims && len(open) > 0 {
		at, top := -1, 0.0
		rest := open[:0]
		for _, s := range open {
			overlap := 0.0
			for _, p := range picked {
				overlap = max(overlap, similarity(s.own, p.own))
			}
			if overlap >= sameContent {
				continue
			}
			if value := rounded(s.score - float64(noveltyPrice*best*overlap)); at < 0 || value > top {
				at, top = len(rest), value
			}
			rest = append(rest, s)
		}
		if at < 0 {
			break
		}
		picked = append(picked, rest[at])
		open = append(rest[:at:at], rest[at+1:]...)
	}
	return picked
}

// similarity is the Jaccard overlap of two sets of terms.
func similarity(a, b map[string]bool) float64 {
	both := 0
	for t := range a {
		if b[t] {
			both++
		}
	}
	if both == 0 {
		return 0
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
