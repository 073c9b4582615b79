package guest

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

func init() {
	Handle("reader", "echo", func(r Request) (Answer, error) {
		switch string(r.Body) {
		case "refuse":
			return Answer{}, Refuse("bad_thing", 7, "it \"broke\"\n")
		case "fault":
			return Answer{}, errors.New("lost")
		}
		return Answer{
			Fields: []Field{Int("z", -1), Bool("b", true), String("m", r.MediaType), Int("cap", int(r.Limits.OutputBytes))},
			Body:   [][]byte{r.Body, nil, r.Body},
		}, nil
	})
}

const head = `{"abi":"writ/1","kind":"reader","limits":{"log_bytes":1,"memory_bytes":2,"output_bytes":3,"wall_ms":4},"media_type":"text/plain","op":"echo"}`

func TestServeAnswersWithSortedHeaderAndBodyParts(t *testing.T) {
	got, code := Serve([]byte(head + "\nhi\n"))
	want := `{"abi":"writ/1","b":true,"cap":3,"kind":"reader","m":"text/plain","op":"echo","z":-1}` + "\nhi\nhi\n"
	if code != runOK || string(got) != want {
		t.Fatalf("code %d, answer %q", code, got)
	}
}

func TestServeIgnoresUnknownHeaderFields(t *testing.T) {
	for _, grease := range []string{
		`"x":1`, `"x":-1.5e+3`, `"x":null`, `"x":true`, `"x":"\ud83d\ude00\"\\"`, `"x":[]`, `"x":[1,[2,{"abi":"no"}]]`,
		`"x":{"op":"other","limits":{}}`, `"":{}`, `"limitsx":{"wall_ms":"a"}`,
	} {
		header := "{" + grease + "," + head[1:]
		if got, code := Serve([]byte(header + "\nhi")); code != runOK {
			t.Errorf("%s: code %d, answer %q", grease, code, got)
		}
	}
}

func TestServeRefusesFramesItCannotRead(t *testing.T) {
	for name, frame := range map[string]string{
		"empty": "", "no line": head, "no object": "[]\n", "cut": head[:40] + "\n", "trailing": head + "x\n",
		"abi": strings.Replace(head, "writ/1", "writ/2", 1) + "\n", "op": strings.Replace(head, "echo", "other", 1) + "\n",
		"kind": strings.Replace(head, "reader", "assembler", 1) + "\n", "type": strings.Replace(head, `"echo"`, `7`, 1) + "\n",
		"deep": `{"x":` + strings.Repeat("[", 100000) + "\n",
	} {
		got, code := Serve([]byte(frame))
		if code != runBadRequest || !json.Valid(got) || !strings.Contains(string(got), `"error":{"code":`) {
			t.Errorf("%s: code %d, answer %q", name, code, got)
		}
	}
}

func TestServeReportsRefusalsAndFaultsApart(t *testing.T) {
	got, code := Serve([]byte(head + "\nrefuse"))
	want := `{"abi":"writ/1","error":{"code":"bad_thing","detail":"it \"broke\"\n","offset":7},"kind":"reader","op":"echo"}` + "\n"
	if code != runRefused || string(got) != want {
		t.Errorf("refusal: code %d, answer %q", code, got)
	}
	got, code = Serve([]byte(head + "\nfault"))
	if code != runInternal || !strings.Contains(string(got), `"code":"internal","detail":"lost"`) {
		t.Errorf("fault: code %d, answer %q", code, got)
	}
}

func TestServeStopsAtTheOutputLimit(t *testing.T) {
	for limit := range 3 {
		left := limit
		code := serve([]byte(head+"\nhi"), func([]byte) bool { left--; return left >= 0 })
		if code != runOutput {
			t.Errorf("after %d writes: code %d", limit, code)
		}
	}
}

func TestItoaWritesEveryInteger(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 7: "7", -7: "-7", 1234567890123: "1234567890123",
		math.MinInt64: "-9223372036854775808", math.MaxInt64: "9223372036854775807"} {
		if got := itoa(n); got != want {
			t.Errorf("itoa(%d) = %s", n, got)
		}
	}
}

func FuzzServeNeverPanics(f *testing.F) {
	f.Add([]byte(head + "\nhi"))
	f.Add([]byte(`{"x":"\u00`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		answer, _ := Serve(frame)
		line, _, _ := strings.Cut(string(answer), "\n")
		if !json.Valid([]byte(line)) {
			t.Fatalf("header %q", line)
		}
	})
}
