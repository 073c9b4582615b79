package policies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
)

// ceilings is written out by hand, apart from the tags and from Default, so that no edit of one of
// the three passes alone.
var ceilings = []struct {
	field    string
	min, max int64
	floor    bool // the default is the minimum, not the maximum
}{
	{field: "research.parent_deadline_seconds", min: 21, max: 300},
	{field: "research.child_deadline_seconds", min: 1, max: 120},
	{field: "research.assembly_reserve_seconds", min: 20, max: 299, floor: true},
	{field: "research.question_bytes", min: 1, max: 2048},
	{field: "research.perspective_bytes", min: 1, max: 1024},
	{field: "research.slots", min: 1, max: 2},
	{field: "research.sources", min: 1, max: 4},
	{field: "research.sources_per_child", min: 1, max: 2},
	{field: "research.public_reads", min: 0, max: 4},
	{field: "research.public_read_seconds", min: 1, max: 20},
	{field: "research.source_bytes", min: 1, max: 65536},
	{field: "research.sources_bytes", min: 1, max: 262144},
	{field: "research.excerpt_bytes", min: 1, max: 4096},
	{field: "research.prompt_bytes", min: 1, max: 8192},
	{field: "research.output_tokens", min: 1, max: 1024},
	{field: "research.output_tokens_total", min: 1, max: 2048},
	{field: "research.output_bytes", min: 1, max: 16384},
	{field: "research.contact_seconds", min: 1, max: 45},
	{field: "research.dossier_bytes", min: 1, max: 65536},
	{field: "research.manifest_bytes", min: 1, max: 65536},
	{field: "research.claims", min: 1, max: 8},
	{field: "research.citations_per_claim", min: 1, max: 2},
	{field: "research.contradictions", min: 0, max: 8},
	{field: "ledger.operation_allowance", min: 0, max: 5_000_000},
	{field: "ledger.owner_day", min: 0, max: 20_000_000},
	{field: "ledger.deployment_day", min: 0, max: 20_000_000},
	{field: "goal.allowance", min: 0, max: 100_000_000},
	{field: "plugins.memory_bytes", min: 65536, max: 67108864},
	{field: "plugins.wall_milliseconds", min: 1, max: 1000},
	{field: "plugins.output_factor", min: 1, max: 4},
	{field: "plugins.output_base_bytes", min: 1024, max: 65536},
	{field: "plugins.log_bytes", min: 0, max: 4096},
}

func setting(field string, value int64) []byte {
	section, key, _ := strings.Cut(field, ".")
	return fmt.Appendf(nil, "%s:\n  %s: %d\n", section, key, value)
}

// number reads a setting through its canonical name.
func number(t *testing.T, p *Policy, field string) int64 {
	t.Helper()
	raw, err := canon.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var sections map[string]json.RawMessage
	if err := json.Unmarshal(raw, &sections); err != nil {
		t.Fatal(err)
	}
	section, key, _ := strings.Cut(field, ".")
	var values map[string]any
	dec := json.NewDecoder(bytes.NewReader(sections[section]))
	dec.UseNumber()
	if err := dec.Decode(&values); err != nil {
		t.Fatal(err)
	}
	n, ok := values[key].(json.Number)
	if !ok {
		t.Fatalf("%s is not a number of the policy", field)
	}
	i, err := strconv.ParseInt(n.String(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestEachCeilingMayBeNarrowedAndNeverWidened(t *testing.T) {
	for _, c := range ceilings {
		t.Run(c.field, func(t *testing.T) {
			initial := c.max
			if c.floor {
				initial = c.min
			}
			if got := number(t, Default(), c.field); got != initial {
				t.Errorf("default is %d, want %d", got, initial)
			}
			accepted := []int64{c.min, c.max}
			if mid := c.min + (c.max-c.min)/2; c.max > c.min {
				accepted = append(accepted, mid)
			}
			for _, v := range accepted {
				p, err := Parse(setting(c.field, v))
				if err != nil {
					t.Errorf("%d refused: %v", v, err)
				} else if got := number(t, p, c.field); got != v {
					t.Errorf("%d read as %d", v, got)
				}
			}
			for _, v := range []int64{c.min - 1, c.max + 1, -1, 1 << 40} {
				p, err := Parse(setting(c.field, v))
				if p != nil || !reason.Is(err, writv1.Reason_REASON_OUT_OF_RANGE) {
					t.Errorf("%d: policy %v, error %v, want out_of_range", v, p, err)
					continue
				}
				if e, _ := reason.As(err); e.Field != c.field {
					t.Errorf("%d blames %q", v, e.Field)
				}
			}
		})
	}
}

func TestEveryNumberOfThePolicyHasACeilingHere(t *testing.T) {
	listed := map[string]bool{}
	for _, c := range ceilings {
		listed[c.field] = true
	}
	policy := reflect.TypeFor[Policy]()
	for i := range policy.NumField() {
		section := policy.Field(i)
		if section.Type.Kind() != reflect.Struct {
			continue
		}
		for j := range section.Type.NumField() {
			f := section.Type.Field(j)
			name := section.Tag.Get("json") + "." + f.Tag.Get("json")
			if (f.Type.Kind() == reflect.Int || f.Type.Kind() == reflect.Int64) && !listed[name] {
				t.Errorf("%s is missing from the table", name)
			}
		}
	}
}

func TestDefaultIsValidAndFresh(t *testing.T) {
	p := Default()
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	p.Routes["other"] = Route{}
	if len(Default().Routes) != 1 {
		t.Error("two defaults share their routes")
	}
	r := Default().Routes[Default().DefaultRoute]
	if !r.Free() || !r.Local || !r.Deterministic || r.LanguageModel {
		t.Errorf("the default route is %+v", r)
	}
	if bound, err := r.Bound(8192, 1024); bound != 0 || err != nil {
		t.Errorf("the default route may cost %d, %v", bound, err)
	}
}

func TestRevisionFollowsTheResolvedValuesAlone(t *testing.T) {
	base := `
consents: {remote_egress: true}
routes:
  a: {deployment: d, plugin: p, model: m, price: {per_call: 7}}
research: {claims: 4}
`
	same := map[string]string{
		"comment":             "# why\n" + base,
		"key order":           "research: {claims: 4}\nroutes:\n  a: {price: {per_call: 7}, model: m, plugin: p, deployment: d}\nconsents: {remote_egress: true}\n",
		"spelled-out default": base + "default_route: extractive\n",
		"other number form":   strings.Replace(base, "claims: 4", "claims: 0x4", 1),
		"quotes":              strings.Replace(base, "plugin: p", `"plugin": "p"`, 1),
	}
	other := map[string]string{
		"ceiling": strings.Replace(base, "claims: 4", "claims: 5", 1),
		"price":   strings.Replace(base, "per_call: 7", "per_call: 8", 1),
		"consent": strings.Replace(base, "true", "false", 1),
		"model":   strings.Replace(base, "model: m", "model: n", 1),
		"owner":   base + "owner: {name: someone}\n",
	}
	want := parse(t, base).Revision()
	if !canon.IsDigest(want) {
		t.Fatalf("revision %q is no digest", want)
	}
	for name, file := range same {
		if got := parse(t, file).Revision(); got != want {
			t.Errorf("%s changed the revision", name)
		}
	}
	for name, file := range other {
		if got := parse(t, file).Revision(); got == want {
			t.Errorf("%s did not change the revision", name)
		}
	}
}

func TestAnInvalidPolicyHasNoRevision(t *testing.T) {
	p := Default()
	p.Ledger.OwnerDay = canon.MaxInteger + 1
	if got := p.Revision(); got != "" {
		t.Errorf("revision %q", got)
	}
}

func parse(t *testing.T, file string) *Policy {
	t.Helper()
	p, err := Parse([]byte(file))
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	return p
}
