package policies

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

func TestAFileWithoutSettingsIsTheDefaultPolicy(t *testing.T) {
	for _, file := range []string{"", "\n", "# nothing yet\n", "---\n", "--- # only a mark\n", "{}\n", "research: {}\n"} {
		p, err := Parse([]byte(file))
		if err != nil {
			t.Errorf("%q: %v", file, err)
		} else if !reflect.DeepEqual(p, Default()) {
			t.Errorf("%q is not the default policy", file)
		}
	}
}

func TestARefusedFileNamesTheFieldAndTheReason(t *testing.T) {
	route := "routes:\n  x: {deployment: d, plugin: p, model: m}\n"
	cases := map[string]struct {
		file  string
		code  reason.Code
		field string
	}{
		"unknown section":       {"reserch: {}", writv1.Reason_REASON_UNKNOWN_FIELD, "reserch"},
		"unknown setting":       {"research: {claimz: 1}", writv1.Reason_REASON_UNKNOWN_FIELD, "research.claimz"},
		"other case":            {"research: {Claims: 1}", writv1.Reason_REASON_UNKNOWN_FIELD, "research.Claims"},
		"unknown in route":      {strings.Replace(route, "model", "modle", 1), writv1.Reason_REASON_UNKNOWN_FIELD, "routes.x.modle"},
		"duplicate section":     {"goal: {}\nresearch: {}\ngoal: {}", writv1.Reason_REASON_DUPLICATE_FIELD, "goal"},
		"duplicate setting":     {"research:\n  claims: 1\n  claims: 1", writv1.Reason_REASON_DUPLICATE_FIELD, "research.claims"},
		"duplicate by quoting":  {"research:\n  claims: 1\n  \"claims\": 2", writv1.Reason_REASON_DUPLICATE_FIELD, "research.claims"},
		"duplicate route":       {route + "  x: {}\n", writv1.Reason_REASON_DUPLICATE_FIELD, "routes.x"},
		"text for a number":     {"research: {claims: many}", writv1.Reason_REASON_INVALID_INPUT, "research.claims"},
		"quoted number":         {`research: {claims: "4"}`, writv1.Reason_REASON_INVALID_INPUT, "research.claims"},
		"number for text":       {"goal: {title: 4}", writv1.Reason_REASON_INVALID_INPUT, "goal.title"},
		"text for a consent":    {"consents: {remote_egress: yes}", writv1.Reason_REASON_INVALID_INPUT, "consents.remote_egress"},
		"fraction":              {"research: {claims: 4.0}", writv1.Reason_REASON_INVALID_INPUT, "research.claims"},
		"not a number":          {"research: {claims: .nan}", writv1.Reason_REASON_INVALID_INPUT, "research.claims"},
		"null":                  {"research: {claims: }", writv1.Reason_REASON_INVALID_INPUT, "research.claims"},
		"null section":          {"research:", writv1.Reason_REASON_INVALID_INPUT, "research"},
		"beyond 64 bits":        {"research: {claims: 9223372036854775808}", writv1.Reason_REASON_OUT_OF_RANGE, "research.claims"},
		"list":                  {"research: [1]", writv1.Reason_REASON_INVALID_INPUT, "research"},
		"scalar for section":    {"research: 1", writv1.Reason_REASON_INVALID_INPUT, "research"},
		"alias":                 {"goal: &a {}\nowner: *a", writv1.Reason_REASON_INVALID_INPUT, "goal"},
		"anchor alone":          {"research: {claims: &a 1}", writv1.Reason_REASON_INVALID_INPUT, "research.claims"},
		"merge key":             {"research: {<<: {claims: 1}}", writv1.Reason_REASON_INVALID_INPUT, "research"},
		"tag":                   {"research: {claims: !!int \"4\"}", writv1.Reason_REASON_INVALID_INPUT, "research.claims"},
		"number as key":         {"research: {1: 1}", writv1.Reason_REASON_INVALID_INPUT, "research"},
		"deep nesting":          {strings.Repeat("{a: ", 20) + "1" + strings.Repeat("}", 20), writv1.Reason_REASON_INVALID_INPUT, "a.a.a.a.a.a.a.a"},
		"root is a list":        {"- research", writv1.Reason_REASON_INVALID_INPUT, ""},
		"root is text":          {"research", writv1.Reason_REASON_INVALID_INPUT, ""},
		"two documents":         {"goal: {}\n---\nowner: {}", writv1.Reason_REASON_INVALID_INPUT, ""},
		"broken second":         {"goal: {}\n---\n{", writv1.Reason_REASON_INVALID_INPUT, ""},
		"syntax":                {"research: {", writv1.Reason_REASON_INVALID_INPUT, ""},
		"not UTF-8":             {"goal: {title: \"\xff\"}", writv1.Reason_REASON_INVALID_UTF8, ""},
		"too large":             {strings.Repeat("#", MaxFileBytes) + "\n", writv1.Reason_REASON_TOO_LARGE, ""},
		"reserve over deadline": {"research: {parent_deadline_seconds: 60, assembly_reserve_seconds: 60}", writv1.Reason_REASON_OUT_OF_RANGE, "research.parent_deadline_seconds"},
		"redefined built-in":    {"routes: {extractive: {deployment: d, plugin: p, model: m}}", writv1.Reason_REASON_CONFLICT, "routes.extractive"},
		"route name":            {"routes: {A b: {deployment: d, plugin: p, model: m}}", writv1.Reason_REASON_INVALID_INPUT, "routes.A b"},
		"no plugin":             {"routes: {x: {deployment: d, model: m}}", writv1.Reason_REASON_MISSING_FIELD, "routes.x.plugin"},
		"plugin is a path":      {strings.Replace(route, "plugin: p", "plugin: /bin/sh", 1), writv1.Reason_REASON_INVALID_INPUT, "routes.x.plugin"},
		"no deployment":         {"routes: {x: {plugin: p, model: m}}", writv1.Reason_REASON_MISSING_FIELD, "routes.x.deployment"},
		"no model":              {"routes: {x: {deployment: d, plugin: p}}", writv1.Reason_REASON_MISSING_FIELD, "routes.x.model"},
		"long model":            {strings.Replace(route, "model: m", "model: "+strings.Repeat("é", 129), 1), writv1.Reason_REASON_TOO_LARGE, "routes.x.model"},
		"terminal control":      {strings.Replace(route, "model: m", `model: "\e[2J"`, 1), writv1.Reason_REASON_INVALID_INPUT, "routes.x.model"},
		"negative price":        {strings.Replace(route, "model: m", "model: m, price: {per_call: -1}", 1), writv1.Reason_REASON_OUT_OF_RANGE, "routes.x.price.per_call"},
		"unknown default route": {"default_route: elsewhere", writv1.Reason_REASON_NOT_FOUND, "default_route"},
		"empty title":           {`goal: {title: ""}`, writv1.Reason_REASON_MISSING_FIELD, "goal.title"},
		"owner name":            {"owner: {name: ../x}", writv1.Reason_REASON_INVALID_INPUT, "owner.name"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := Parse([]byte(c.file))
			if p != nil {
				t.Error("a policy came with the error")
			}
			e, ok := reason.As(err)
			if !ok {
				t.Fatalf("untyped: %v", err)
			}
			if e.Code != c.code || e.Field != c.field {
				t.Errorf("got %s %q (%s), want %s %q", reason.Name(e.Code), e.Field, e.Detail, reason.Name(c.code), c.field)
			}
		})
	}
}

func TestAFileMayAddRoutesAndChooseOneByDefault(t *testing.T) {
	p := parse(t, `
default_route: priced
routes:
  priced:
    deployment: local/counting
    plugin: counting
    model: "Any name: even with spaces/и знаки"
    local: true
    price: {per_call: 10, per_million_input_bytes: 2_000_000, per_million_output_tokens: 3_000_000}
`)
	want := Route{Deployment: "local/counting", Plugin: "counting", Model: "Any name: even with spaces/и знаки", Local: true,
		Price: Price{PerCall: 10, PerMillionInputBytes: 2_000_000, PerMillionOutputTokens: 3_000_000}}
	if p.Routes["priced"] != want {
		t.Errorf("got %+v", p.Routes["priced"])
	}
	if p.Routes[ExtractiveRoute] != Default().Routes[ExtractiveRoute] {
		t.Error("the built-in route is gone")
	}
	g, err := p.Governing("")
	if err != nil || g.RouteName != "priced" || g.Route.Free() {
		t.Errorf("default route gives %+v, %v", g, err)
	}
}

// The annotated file of README.md must be what it claims: complete, valid and the default policy.
func TestTheDocumentedFileIsTheDefaultPolicy(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(readme, -1)
	if len(blocks) != 2 {
		t.Fatalf("README.md has %d YAML blocks", len(blocks))
	}
	p := parse(t, string(blocks[0][1]))
	if !reflect.DeepEqual(p, Default()) {
		t.Error("the annotated file is not the default policy")
	}
	for _, c := range ceilings {
		_, key, _ := strings.Cut(c.field, ".")
		if !strings.Contains(string(blocks[0][1]), "  "+key+":") {
			t.Errorf("the annotated file does not show %s", c.field)
		}
		if !strings.Contains(string(readme), "| `"+c.field+"` |") {
			t.Errorf("the table does not show %s", c.field)
		}
	}
	if got := parse(t, string(blocks[1][1])); len(got.Routes) != 2 {
		t.Error("the route example adds no route")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "---\n", "research: {claims: 4}\n", "routes:\n  x: {deployment: d, plugin: p, model: m}\ndefault_route: x\n",
		"goal: &a {}\nowner: *a\n", "a: !!binary aGk=\n", "? {a: b}\n: c\n", "{{{{", "goal: {title: \"\\u0000\"}\n", "research: {claims: 0o7}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := Parse(file)
		if err != nil {
			if _, typed := reason.As(err); !typed || p != nil {
				t.Fatalf("policy %v with error %v", p, err)
			}
			return
		}
		if err := p.Validate(); err != nil {
			t.Fatalf("accepted but not valid: %v", err)
		}
		if p.Revision() == "" {
			t.Fatal("accepted without a revision")
		}
		again, err := Parse(append([]byte("# comment\n"), file...))
		if err == nil && again.Revision() != p.Revision() {
			t.Fatal("a comment changed the revision")
		}
	})
}
