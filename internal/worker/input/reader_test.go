package input

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"hospital.example/analyze-retry/internal/testing/check"
)

// Every object is taken apart as encoding/json does it, but for what no broker sends: half a surrogate pair.
func FuzzVariables(f *testing.F) {
	for variables := range odd(f) {
		if len(variables) < 4096 { // the fuzzer makes its own long inputs
			f.Add(variables)
		}
	}
	for _, text := range []string{
		" {\n} ", `{"a":1,"a":[{"b":"]}"},"}"] , "\\"":"\\\\" }`, `{"cl\u0061imId":"x","a":null}`, "{\"a\":\"\xff\"}",
		`{"":{}}`, `{"a":-1e5}`, `{"a":"\u00e9\/\n💉"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want map[string]json.RawMessage
		_ = json.Unmarshal([]byte(strings.ToValidUTF8(text, "\uFFFD")), &want) // nil where it is no object
		got := read("variables", text)
		if (got.values == nil) != (want == nil) || (got.faults == nil) != (want != nil) {
			t.Fatalf("%q: read as %v with faults %v, want %s", text, got.values, got.faults, want)
		}
		if written, _ := json.Marshal(want); strings.Contains(string(written), "\uFFFD") || strings.Contains(text, `\ud`) {
			return
		}
		check.Same(t, len(want), len(got.values), "values of %q", text)
		for name, raw := range want {
			v := got.values[name]
			check.Same(t, string(raw), v.Raw, "%q: %s", text, name)
			var s *string
			if isText := json.Unmarshal(raw, &s) == nil && s != nil; isText != (v.Type == gjson.String) || isText && *s != v.Str {
				t.Errorf("%q: %s says %q, want %s", text, name, v.Str, raw)
			}
		}
	})
}

func TestAValueIsShownWithoutPersonalData(t *testing.T) {
	for value, want := range map[string]string{
		`null`: "missing", `""`: "blank", `"\u200b\u0000 \u00a0\ufeff\u3164"`: "blank", `{"cpf":1}`: "an object", `["a"]`: "a list", `true`: "true",
		`-2.5`: "-2.5", `"3"`: `the text "3"`, `"2.50"`: `the text "2.50"`, `33445566`: "a number of 8 characters", `12345`: "a number of 5 characters",
		`"12345"`: `the text "[number]"`, `"João 123.456.789-09"`: `the text "[word] [long number]"`, `"submitted"`: `the text "submitted"`, `"Ana"`: `the text "[word]"`,
		`"` + strings.Repeat("não ", 20_000) + `"`: `the text "` + strings.Repeat("não ", 14) + `n..."`,
	} {
		check.Same(t, want, read("variables", `{"a":`+value+`}`).shown("a").String(), "shown of %.60s", value)
	}
	check.Same(t, `"João"`, read("headers", `{"a":"João"}`).shown("a").String(), "shown of a header")
}

func TestOfAWholeNumberNothingIsLost(t *testing.T) {
	for value, want := range map[string]bool{
		`2`: true, `2.0`: true, `20e-1`: true, `2E0`: true, `0.2e1`: true, `2.5`: false, `2.0000000000000000000000001`: false,
		`2.` + strings.Repeat("0", 40): false, `1e-400`: false, `3`: false, `1`: false, `1e999999999`: false, `"2"`: false, `[2]`: false,
	} {
		r := read("variables", `{"n":`+value+`}`)
		n, given := r.whole("n", ruleRetryCount, 2, 2)
		if given != want || want != (n == 2) || want != (r.faults == nil) {
			t.Errorf("%s is read as %d, given %v, faults %v", value, n, given, r.faults)
		}
	}
}

func TestTheFormOfAnID(t *testing.T) {
	for id, claim := range map[string]bool{
		"CLM-001-1234567890":                     true,
		"CLM--1":                                 true,
		"CLM-" + strings.Repeat("0", 122) + "-1": true,
		"CLM-1":                                  false, // the pattern wants a second dash
		"clm-001-1":                              false,
		"CLM-001-1\n":                            false,
		"CLM-0\n1-1":                             false,
		"CLM-0\u202e1-1":                         false, // right-to-left override: shown backwards in a report
		"CLM-0\ufeff1-1":                         false,
		"CLM-0\u20281-1":                         false, // line and paragraph separators: a line break to some readers
		"CLM-0\ufffd1-1":                         false, // what a lone surrogate becomes
		"CLM-001-١٢":                             false, // Arabic digits are not \d
		"CLM-" + strings.Repeat("0", 123) + "-1": false,
		"":                                       false,
	} {
		_, is := isID(claimID)(id)
		check.Same(t, claim, is, "a claim id: %q", id)
	}
	for id, any := range map[string]bool{ // one word
		"job_123": true, "123e4567-e89b-12d3-a456-426614174000": true, "mail:2025/01.7": true, "CLM-ÇÃO-7": true,
		"": false, "-1": false, "a b": false, "a@b.c": false, "é": false, "a\n": false, "_a": false,
	} {
		_, is := isID(anyID)(id)
		check.Same(t, any, is, "an id: %q", id)
	}
}
