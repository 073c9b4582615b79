package research

import (
	"reflect"
	"strings"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
)

func task(texts ...string) Task {
	t := Task{Question: "Who may hold a lease?", Perspective: "an operator"}
	for i, text := range texts {
		t.Passages = append(t.Passages, Passage{ID: PassageID(i), Kind: "paragraph", Source: "s1", Text: text})
	}
	return t
}

func TestAPromptReadsBackAsTheSameTask(t *testing.T) {
	want := task("One \"quoted\" line.\nSecond line.", "<b>&amp; é — 漢字 \u2028</b>")
	want.Passages[1].Role = "hidden"
	payload, err := BuildPrompt(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParsePrompt(payload)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	again, _ := BuildPrompt(got)
	if string(again) != string(payload) {
		t.Fatal("the same task gave other bytes")
	}
}

func TestAPromptHasRoomForFourKiBOfExcerpts(t *testing.T) {
	line := strings.Repeat("The parent keeps its \"attempt\" open while it waits. ", 5) + "\n"
	var texts []string
	for total := 0; total+len(line) <= 4096; total += len(line) {
		texts = append(texts, line)
	}
	big := task(texts...)
	big.Question = strings.Repeat("q", 300)
	big.Perspective = strings.Repeat("p", 200)
	if _, err := BuildPrompt(big); err != nil {
		t.Fatal(err)
	}
	if len(Instructions) > 900 {
		t.Fatalf("instructions take %d bytes", len(Instructions))
	}
}

func TestThePromptBoundCountsEveryByteAfterEscaping(t *testing.T) {
	base, err := BuildPrompt(task("x"))
	if err != nil {
		t.Fatal(err)
	}
	room := MaxPromptBytes - len(base)
	for name, c := range map[string]struct {
		unit string
		cost int // bytes of the payload per unit
	}{
		"plain":            {"x", 1},
		"multibyte":        {"é", 2},
		"wide":             {"漢", 3},
		"quote escaped":    {`"`, 4},  // \\\"
		"newline escaped":  {"\n", 3}, // \\n
		"backslash":        {`\`, 4},
		"control as \\u":   {"\x01", 7},
		"four byte symbol": {"𝄞", 4},
	} {
		t.Run(name, func(t *testing.T) {
			fit := room / c.cost
			payload, err := BuildPrompt(task("x" + strings.Repeat(c.unit, fit)))
			if err != nil || len(payload) > MaxPromptBytes {
				t.Fatalf("%d units: %d bytes, %v", fit, len(payload), err)
			}
			_, err = BuildPrompt(task("x" + strings.Repeat(c.unit, fit+1)))
			if !reason.Is(err, writv1.Reason_REASON_PROMPT_TOO_LARGE) {
				t.Fatalf("one unit more: %v", err)
			}
		})
	}
}

func TestAnIncompleteTaskIsRefusedByField(t *testing.T) {
	for field, change := range map[string]func(*Task){
		"question":         func(t *Task) { t.Question = "" },
		"perspective":      func(t *Task) { t.Perspective = "" },
		"passages":         func(t *Task) { t.Passages = nil },
		"passages[1].id":   func(t *Task) { t.Passages[1].ID = "p7" },
		"passages[0].text": func(t *Task) { t.Passages[0].Text = "" },
	} {
		t.Run(field, func(t *testing.T) {
			bad := task("a", "b")
			change(&bad)
			_, err := BuildPrompt(bad)
			if e, ok := reason.As(err); !ok || e.Field != field {
				t.Fatalf("got %v", err)
			}
		})
	}
	if _, err := BuildPrompt(task("bad \xff byte")); !reason.Is(err, writv1.Reason_REASON_INVALID_INPUT) {
		t.Fatalf("invalid UTF-8: %v", err)
	}
}

func TestOnlyTheExactTwoMessagesAreAPrompt(t *testing.T) {
	good, err := BuildPrompt(task("a"))
	if err != nil {
		t.Fatal(err)
	}
	user := Message{RoleUser, `{"passages":[{"id":"p1","text":"a"}],"perspective":"p","question":"q"}`}
	system := Message{RoleSystem, Instructions}
	for name, payload := range map[string][]byte{
		"a further message":   encode(t, Request{[]Message{system, user, user}}),
		"no system message":   encode(t, Request{[]Message{user, user}}),
		"other instructions":  encode(t, Request{[]Message{{RoleSystem, "Fetch this."}, user}}),
		"tools":               []byte(strings.Replace(string(good), `{"messages"`, `{"a":1,"messages"`, 1)),
		"white space":         append([]byte(" "), good...),
		"trailing data":       append(good[:len(good):len(good)], '1'),
		"unknown task member": encode(t, Request{[]Message{system, {RoleUser, `{"tools":[]}`}}}),
		"loose task JSON":     encode(t, Request{[]Message{system, {RoleUser, " " + user.Content}}}),
		"empty":               nil,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParsePrompt(payload); !reason.Is(err, writv1.Reason_REASON_INVALID_INPUT) {
				t.Fatalf("got %v", err)
			}
		})
	}
	if _, err := ParsePrompt(make([]byte, MaxPromptBytes+1)); !reason.Is(err, writv1.Reason_REASON_PROMPT_TOO_LARGE) {
		t.Fatalf("oversize: %v", err)
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := canon.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func FuzzParsePrompt(f *testing.F) {
	good, _ := BuildPrompt(task("a", "b"))
	f.Add(good)
	f.Fuzz(func(t *testing.T, raw []byte) {
		parsed, err := ParsePrompt(raw)
		if err != nil {
			if reason.CodeOf(err) == writv1.Reason_REASON_UNSPECIFIED {
				t.Fatalf("untyped refusal: %v", err)
			}
			return
		}
		again, err := BuildPrompt(parsed)
		if err != nil || string(again) != string(raw) {
			t.Fatalf("accepted bytes that are not the canonical prompt: %v", err)
		}
	})
}
