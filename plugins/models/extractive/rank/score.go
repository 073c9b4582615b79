package rank

import "math"

// BM25 as usual, and what the parts of a task weigh.
const (
	k1 = 1.2
	b  = 0.75

	questionWeight    = 1.0
	perspectiveWeight = 0.4
	pairWeight        = 0.5
	headingWeight     = 0.4 // a heading's word counts as so much of an occurrence

	// background is a number of unseen sentences without any of the words. Excerpts are often a few
	// sentences on one subject; without it, the very word they are all about would weigh nothing.
	background = 8
)

// Relevance floors: nothing is selected to fill a page.
const (
	floorCoverage = 0.25 // of the question's own weight
	floorBest     = 0.40 // of the best sentence's score
)

type queryTerm struct {
	term     string
	weight   float64
	question bool // counts toward coverage
}

// query holds every term once, in a fixed order, so that sums are the same on every run.
func query(question, perspective string) []queryTerm {
	asked, seen := terms(question), terms(perspective)
	if len(asked) == 0 {
		asked = seen // "What is it?" asks for whatever the perspective looks at
	}
	var out []queryTerm
	at := map[string]int{}
	add := func(list []string, weight float64, question bool) {
		for _, t := range list {
			if _, known := at[t]; !known {
				at[t] = len(out)
				out = append(out, queryTerm{t, weight, question})
			}
		}
	}
	add(asked, questionWeight, true)
	add(pairs(asked), pairWeight, false)
	add(seen, perspectiveWeight, false)
	return out
}

// A scored sentence. score and coverage are rounded; terms are those of its own words.
type scored struct {
	sentence
	own      map[string]bool
	score    float64
	coverage float64
}

func score(list []sentence, q []queryTerm) []scored {
	type document struct {
		count  map[string]float64
		length float64
	}
	docs := make([]document, len(list))
	out := make([]scored, len(list))
	df := map[string]float64{}
	total := 0.0
	for i, s := range list {
		own := terms(s.quote)
		d := document{count: map[string]float64{}, length: float64(len(own))}
		out[i] = scored{sentence: s, own: map[string]bool{}}
		for _, t := range own {
			d.count[t]++
			out[i].own[t] = true
		}
		for _, t := range pairs(own) {
			d.count[t]++
		}
		for t := range d.count {
			df[t]++
		}
		for _, t := range s.headings {
			d.count[t] += headingWeight
		}
		docs[i] = d
		total += d.length
	}
	n := float64(len(list))
	average := max(total/max(n, 1), 1)
	idf := func(t string) float64 {
		// A word that occurs nowhere is taken to be as rare as one that occurs once.
		found := max(df[t], 1)
		return math.Log(1 + (n+background-found+0.5)/(found+0.5))
	}

	asked := 0.0
	for _, t := range q {
		if t.question {
			asked += float64(t.weight * idf(t.term))
		}
	}
	for i := range out {
		sum, covered := 0.0, 0.0
		for _, t := range q {
			count := docs[i].count[t.term]
			if count == 0 {
				continue
			}
			weight := float64(t.weight * idf(t.term))
			norm := float64(count + float64(k1*(1-b+float64(b*docs[i].length/average))))
			sum += float64(weight * float64(count*(k1+1)/norm))
			if t.question {
				covered += float64(weight * min(count, 1))
			}
		}
		out[i].coverage = rounded(covered / max(asked, 1e-9))
		out[i].score = rounded(sum * (0.5 + float64(0.5*out[i].coverage)))
	}
	return out
}

// rounded drops the digits in which platforms differ.
func rounded(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// answers says that the sentence's own words, not just its headings, take up the question.
func (s scored) answers(q []queryTerm) bool {
	for _, t := range q {
		if t.question && s.own[t.term] {
			return true
		}
	}
	return false
}
