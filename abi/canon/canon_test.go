package canon

import (
	"errors"
	"strings"
	"testing"
)

func TestCanonicalFormIsThatOfRFC8785(t *testing.T) {
	cases := []struct{ in, want string }{
		// RFC 8785 §3.2.2 and §3.2.3: literals, numbers, strings, sorting by UTF-16 code units.
		{`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"},
		{` [ 1 , -0 , 1e21 ] `, `[1,0,1e+21]`},
	}
	for _, c := range cases {
		got, err := Canonicalize([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s\n got %s %v\nwant %s", c.in, got, err, c.want)
		}
	}
}

func TestCanonicalFormDoesNotChangeItsInput(t *testing.T) {
	in := []byte(`{"b":1,"a":2}`)
	if _, err := Canonicalize(in); err != nil || string(in) != `{"b":1,"a":2}` {
		t.Fatalf("%s %v", in, err)
	}
}

func TestStrictDecodingNamesTheField(t *testing.T) {
	type inner struct {
		N int `json:"n"`
	}
	type outer struct {
		List []inner `json:"list"`
		Text string  `json:"text"`
	}
	cases := []struct {
		in, field string
		is        func(*FieldError) bool
	}{
		{`{"list":[{"n":1,"x":2}]}`, "list[0].x", func(e *FieldError) bool { return e.Unknown }},
		{`{"text":"a","text":"b"}`, "text", func(e *FieldError) bool { return e.Duplicate }},
		{"{\"text\":\"\xff\"}", "text", func(e *FieldError) bool { return e.UTF8 }},
		{`{"list":[{"n":"1"}]}`, "list[0].n", func(e *FieldError) bool { return !e.Unknown && !e.Duplicate }},
		{`{} {}`, "", func(e *FieldError) bool { return true }},
	}
	for _, c := range cases {
		err := Unmarshal([]byte(c.in), new(outer))
		var field *FieldError
		if !errors.As(err, &field) || field.Field != c.field || !c.is(field) {
			t.Errorf("%s: %#v", c.in, err)
		}
	}
}

func TestIntegersThatADoubleCannotHoldAreRefused(t *testing.T) {
	for in, ok := range map[string]bool{
		`9007199254740991`: true, `-9007199254740991`: true, `9007199254740992`: false, `[1,{"a":18446744073709551615}]`: false,
		`123456789012345678901234567890`: false,
	} {
		if _, err := Canonicalize([]byte(in)); (err == nil) != ok {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestADigestIsLowerCaseHexSHA256(t *testing.T) {
	if got := Digest(nil); got != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" || !IsDigest(got) {
		t.Fatal(got)
	}
	for _, bad := range []string{"", "e3", strings.Repeat("E", 64), strings.Repeat("g", 64), strings.Repeat("a", 65)} {
		if IsDigest(bad) {
			t.Errorf("%q passes", bad)
		}
	}
}

func TestAChargeLiteralIsReadExactlyAndRoundedUp(t *testing.T) {
	cases := []struct {
		in   string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"0.000001", 1, true}, {"0.0000001", 1, true}, {"7.1e-05", 71, true}, {"1.1", 1_100_000, true},
		{"0.1000000000000000055511151231257827", 100_001, true}, {"9223372036854.775806", 9223372036854775806, true},
		{"9223372036854.775807", 0, false}, {"1e99", 0, false}, {"1e100", 0, false}, {"-1", 0, false}, {"+1", 0, false}, {"", 0, false},
		{"null", 0, false}, {"NaN", 0, false}, {"Infinity", 0, false}, {".5", 0, false}, {"5.", 0, false}, {"01", 0, false}, {"0x1", 0, false},
		{"1_000", 0, false}, {"1,5", 0, false}, {" 1", 0, false}, {"1/3", 0, false}, {strings.Repeat("1", 65), 0, false},
	}
	for _, c := range cases {
		got, err := ParseUSD(c.in)
		if (err == nil) != c.ok || got != c.want {
			t.Errorf("%q: %d %v", c.in, got, err)
		}
	}
}

func FuzzCanonicalizeIsIdempotent(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5,"x"],"b":{"c":null}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		once, err := Canonicalize(in)
		if err != nil {
			return
		}
		twice, err := Canonicalize(once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("%q then %q: %v", once, twice, err)
		}
	})
}

func FuzzParseUSDIsNeverNegative(f *testing.F) {
	f.Add("0.1")
	f.Fuzz(func(t *testing.T, in string) {
		if v, err := ParseUSD(in); err == nil && v < 0 {
			t.Fatalf("%q gave %d", in, v)
		}
	})
}
