package evidence

import (
	"strings"
	"testing"

	"github.com/writ-kernel/writ/abi/canon"
)

func TestAnyAlteredFieldIsChanged(t *testing.T) {
	table, text := tableOf(t, "\ufefféclair of words\r\nmore “curly” words\r\nend of words\r\n")
	verified, _ := table.Bind("p1", "éclair of words\nmore")
	near, _ := table.Bind("p1", `more "curly" words`)
	absent, _ := table.Bind("p1", "nothing of the kind")
	if verified.Status != StatusVerified || near.Status != StatusNear || absent.Status != StatusUnobserved {
		t.Fatal(verified.Status, near.Status, absent.Status)
	}
	alter := map[string]func(*Citation){
		"raw digest":      func(c *Citation) { c.RawSHA256 = canon.Digest([]byte("x")) },
		"text digest":     func(c *Citation) { c.TextSHA256 = canon.Digest([]byte("x")) },
		"normalizer":      func(c *Citation) { c.Normalizer = "text.v2" },
		"start":           func(c *Citation) { c.Start++ },
		"start, negative": func(c *Citation) { c.Start = -1 },
		"end":             func(c *Citation) { c.End++ },
		"end, far":        func(c *Citation) { c.End = 1 << 40 },
		"shifted":         func(c *Citation) { c.Start++; c.End++ },
		"shifted whole":   func(c *Citation) { c.Start++; c.End++; c.RawStart++; c.RawEnd++ },
		"raw start":       func(c *Citation) { c.RawStart++ },
		"raw end":         func(c *Citation) { c.RawEnd-- },
		"from line":       func(c *Citation) { c.FromLine++ },
		"to line":         func(c *Citation) { c.ToLine-- },
		"span digest":     func(c *Citation) { c.SpanSHA256 = canon.Digest([]byte("x")) },
		"no span digest":  func(c *Citation) { c.SpanSHA256 = "x" },
		"source text":     func(c *Citation) { c.SourceText += "x" },
		"unknown status":  func(c *Citation) { c.Status = "fine" },
		"no status":       func(c *Citation) { c.Status = "" },
	}
	for name, change := range alter {
		for kind, c := range map[string]Citation{"verified": verified, "near": near, "unobserved": absent} {
			change(&c)
			if s := Reverify(text, c); s != StatusChanged {
				t.Errorf("%s, %s: %s from the text", kind, name, s)
			}
			if s := table.Reverify(c); s != StatusChanged {
				t.Errorf("%s, %s: %s from the table", kind, name, s)
			}
		}
	}
	for name, change := range map[string]func(*Citation){
		"quote":             func(c *Citation) { c.Quote = strings.Replace(c.Quote, "words", "birds", 1) },
		"promoted":          func(c *Citation) { c.Status = StatusVerified; c.Quote = "something else" },
		"passage not shown": func(c *Citation) { c.Passage = "p2" },
		"source":            func(c *Citation) { c.Source = "other" },
		"name":              func(c *Citation) { c.Name = "other" },
	} {
		for kind, c := range map[string]Citation{"verified": verified, "near": near} {
			change(&c)
			if s := table.Reverify(c); s != StatusChanged {
				t.Errorf("%s, %s: %s from the table", kind, name, s)
			}
			if name == "quote" || name == "promoted" {
				if s := Reverify(text, c); s != StatusChanged {
					t.Errorf("%s, %s: %s from the text", kind, name, s)
				}
			}
		}
	}
	near.Status = StatusVerified
	absent.Status = StatusVerified
	for _, c := range []Citation{near, absent} {
		if Reverify(text, c) != StatusChanged || table.Reverify(c) != StatusChanged {
			t.Errorf("a status was raised: %+v", c)
		}
	}
}

func TestAnotherVersionOfTheSourceIsChanged(t *testing.T) {
	table, _ := tableOf(t, "the words that were quoted\n")
	c, _ := table.Bind("p1", "words that were quoted")
	for name, raw := range map[string]string{
		"one byte at the end": "the words that were quoted\n\n", "a BOM": "\ufeffthe words that were quoted\n",
		"CRLF": "the words that were quoted\r\n", "empty": "", "NFD": "the wo\u0301rds that were quoted\n",
	} {
		if s := Reverify(mustText(t, raw), c); s != StatusChanged {
			t.Errorf("%s: %s", name, s)
		}
	}
}

func TestStatusesOfPermissionAreNotRecomputed(t *testing.T) {
	table, text := tableOf(t, "the words that were quoted\n")
	c, _ := table.Bind("p1", "words that were quoted")
	for _, s := range []string{StatusRevoked, StatusUnavailable, StatusRedacted, StatusChanged} {
		c.Status = s
		if Reverify(text, c) != s || table.Reverify(c) != s {
			t.Errorf("%s did not stay", s)
		}
	}
}

func FuzzReverify(f *testing.F) {
	f.Add("some words of a source\r\n", "words of a source", uint8(0), 1)
	f.Add("caf\u00e9 and more words", "cafe\u0301 and more words", uint8(3), -1)
	f.Fuzz(func(t *testing.T, raw, quote string, field uint8, by int) {
		if _, _, ok := naive([]byte(raw)); !ok {
			return
		}
		table, text := tableOf(t, raw)
		c, _ := table.Bind("p1", quote)
		if by == 0 {
			return
		}
		numbers := []*int{&c.Start, &c.End, &c.RawStart, &c.RawEnd, &c.FromLine, &c.ToLine}
		*numbers[int(field)%len(numbers)] += by
		if s := Reverify(text, c); s != StatusChanged {
			t.Fatalf("number %d off by %d is still %s", int(field)%len(numbers), by, s)
		}
		if s := table.Reverify(c); s != StatusChanged {
			t.Fatalf("number %d off by %d is still %s from the table", int(field)%len(numbers), by, s)
		}
	})
}
