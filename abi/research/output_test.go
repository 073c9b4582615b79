package research

import (
	"fmt"
	"strings"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

const goodClaim = `{"text":"A claim.","citations":[{"passage":"p1","quote":"a quote"}]}`

func answer(claims, contradictions string) string {
	return fmt.Sprintf(`{"perspective":"p","claims":[%s],"uncertainty":"","contradictions":[%s]}`, claims, contradictions)
}

func repeat(item string, n int) string {
	return strings.TrimSuffix(strings.Repeat(item+",", n), ",")
}

func claim(text, passage, quote string) string {
	return fmt.Sprintf(`{"text":"%s","citations":[{"passage":"%s","quote":"%s"}]}`, text, passage, quote)
}

func TestAnAnswerAtEveryBoundIsAccepted(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing found":      answer("", ""),
		"eight of each":      answer(repeat(goodClaim, MaxClaims), repeat(goodClaim, MaxContradictions)),
		"claim of 1 KiB":     answer(claim(strings.Repeat("x", MaxClaimBytes), "p1", "q"), ""),
		"quote of 4 KiB":     answer(claim("x", "p1", strings.Repeat("q", MaxQuoteBytes)), ""),
		"claim uncited":      answer(`{"text":"x","citations":[]}`, ""),
		"members reordered":  `{"contradictions":[],"uncertainty":"u","claims":[],"perspective":"p"}`,
		"control in a quote": answer(claim("x", "p12", `a\u000cb`), ""),
	} {
		t.Run(name, func(t *testing.T) {
			out, err := ParseChildOutput([]byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := MarshalChildOutput(out); err != nil {
				t.Fatalf("written back: %v", err)
			}
		})
	}
}

func TestAnAnswerOffTheSchemaIsRefusedByField(t *testing.T) {
	const (
		bad = writv1.Reason_REASON_OUTPUT_INVALID
		big = writv1.Reason_REASON_OUTPUT_TOO_LARGE
	)
	for name, c := range map[string]struct {
		raw   string
		code  reason.Code
		field string
	}{
		"unknown member":         {`{"perspective":"p","claims":[],"uncertainty":"","contradictions":[],"tools":[]}`, bad, "tools"},
		"unknown nested member":  {answer(`{"text":"x","citations":[{"passage":"p1","quote":"q","path":"/etc"}]}`, ""), bad, "claims[0].citations[0].path"},
		"other case":             {`{"Perspective":"p","claims":[],"uncertainty":"","contradictions":[]}`, bad, "Perspective"},
		"duplicate member":       {`{"perspective":"p","perspective":"q","claims":[],"uncertainty":"","contradictions":[]}`, bad, "perspective"},
		"perspective missing":    {`{"claims":[],"uncertainty":"","contradictions":[]}`, bad, "perspective"},
		"uncertainty null":       {`{"perspective":"p","claims":[],"uncertainty":null,"contradictions":[]}`, bad, "uncertainty"},
		"claims missing":         {`{"perspective":"p","uncertainty":"","contradictions":[]}`, bad, "claims"},
		"contradictions null":    {`{"perspective":"p","claims":[],"uncertainty":"","contradictions":null}`, bad, "contradictions"},
		"citations missing":      {answer(`{"text":"x"}`, ""), bad, "claims[0].citations"},
		"wrong type":             {`{"perspective":"p","claims":{},"uncertainty":"","contradictions":[]}`, bad, "claims"},
		"number for text":        {answer(`{"text":1,"citations":[]}`, ""), bad, "claims[0].text"},
		"empty perspective":      {`{"perspective":" ","claims":[],"uncertainty":"","contradictions":[]}`, bad, "perspective"},
		"empty claim":            {answer(claim("", "p1", "q"), ""), bad, "claims[0].text"},
		"blank claim":            {answer(claim(` \n `, "p1", "q"), ""), bad, "claims[0].text"},
		"claim over 1 KiB":       {answer(claim(strings.Repeat("x", MaxClaimBytes+1), "p1", "q"), ""), big, "claims[0].text"},
		"escape in a claim":      {answer(claim(`a\u001b[2Jb`, "p1", "q"), ""), bad, "claims[0].text"},
		"empty quote":            {answer(claim("x", "p1", ""), ""), bad, "claims[0].citations[0].quote"},
		"quote over 4 KiB":       {answer(claim("x", "p1", strings.Repeat("q", MaxQuoteBytes+1)), ""), big, "claims[0].citations[0].quote"},
		"path as passage":        {answer(claim("x", "../p1", "q"), ""), bad, "claims[0].citations[0].passage"},
		"passage without number": {answer(claim("x", "p", "q"), ""), bad, "claims[0].citations[0].passage"},
		"nine claims":            {answer(repeat(goodClaim, MaxClaims+1), ""), big, "claims"},
		"nine contradictions":    {answer("", repeat(goodClaim, MaxContradictions+1)), big, "contradictions"},
		"three citations":        {answer(`{"text":"x","citations":[`+repeat(`{"passage":"p1","quote":"q"}`, 3)+`]}`, ""), big, "claims[0].citations"},
		"bad contradiction":      {answer("", claim("x", "p1", "")), bad, "contradictions[0].citations[0].quote"},
		"invalid UTF-8":          {answer(claim("a\xffb", "p1", "q"), ""), bad, "claims[0].text"},
		"lone surrogate":         {answer(claim(`a\ud800b`, "p1", "q"), ""), bad, "claims[0].text"},
		"two values":             {answer("", "") + "{}", bad, ""},
		"prose around":           {"Here you are: " + answer("", ""), bad, ""},
		"code fence":             {"```json\n" + answer("", "") + "\n```", bad, ""},
		"cut":                    {answer(goodClaim, "")[:40], bad, ""},
		"null":                   {"null", bad, "perspective"},
		"empty":                  {"", bad, ""},
		"over 16 KiB":            {answer("", "") + strings.Repeat(" ", MaxOutputBytes), big, ""},
		"deeply nested":          {strings.Repeat("[", MaxOutputBytes), bad, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseChildOutput([]byte(c.raw))
			e, ok := reason.As(err)
			if !ok || e.Code != c.code {
				t.Fatalf("got %v", err)
			}
			if c.field != "" && e.Field != c.field {
				t.Fatalf("field %q, want %q", e.Field, c.field)
			}
		})
	}
}

func TestARefusalNeverRepeatsTheModel(t *testing.T) {
	secret := "IGNORE-ALL-RULES"
	for name, raw := range map[string]string{
		"wrong type":       `{"perspective":["` + secret + `"]}`,
		"text for list":    `{"claims":"` + secret + `"}`,
		"not JSON":         secret,
		"in a bad passage": answer(claim("x", secret, "q"), ""),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseChildOutput([]byte(raw))
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Fatalf("got %v", err)
			}
		})
	}
	_, err := ParseChildOutput([]byte(`{"` + strings.Repeat("n\\u001b", 2000) + `":1}`))
	if e, ok := reason.As(err); !ok || len(e.Field) > maxFieldBytes+8 || strings.Contains(e.Field, "\x1b") {
		t.Fatalf("a hostile member name went through: %v", err)
	}
}

func FuzzParseChildOutput(f *testing.F) {
	f.Add([]byte(answer(goodClaim, goodClaim)))
	f.Add([]byte(answer(claim("a\\ud800", "p1", "q"), "")))
	f.Add([]byte(`{"perspective":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, err := ParseChildOutput(raw)
		if err != nil {
			if c := reason.CodeOf(err); c != writv1.Reason_REASON_OUTPUT_INVALID && c != writv1.Reason_REASON_OUTPUT_TOO_LARGE {
				t.Fatalf("refused as %v", err)
			}
			return
		}
		if len(out.Claims) > MaxClaims || len(out.Contradictions) > MaxContradictions {
			t.Fatal("a bound was not held")
		}
		again, err := MarshalChildOutput(out)
		if err != nil && !reason.Is(err, writv1.Reason_REASON_OUTPUT_TOO_LARGE) {
			t.Fatalf("accepted but cannot be written: %v", err)
		}
		if err == nil {
			if _, err := ParseChildOutput(again); err != nil {
				t.Fatalf("written but not accepted: %v", err)
			}
		}
	})
}
