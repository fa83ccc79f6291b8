package feel

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// variables are those that the facts below use.
var variables = FromJSON([]byte(`{
	"claim": {"amount": 100, "claimId": "CLM-1-1", "note": " ", "gone": null},
	"claims": [{"id": "a", "amount": 5}, {"id": "b", "amount": 50}, null],
	"flag": true,
	"large": 123456789012345678901234567890123456789012345,
	"n": 5,
	"nothing": null,
	"price": 2.5,
	"text": "ação"
}`)).(map[string]any)

func lookup(name string) (any, bool) {
	v, ok := variables[name]
	return v, ok
}

// facts are what expressions give, as JSON. They are the documentation of this FEEL.
var facts = map[string][][2]string{
	"texts": {
		{`"a" + "b"`, `"ab"`},
		{`"a \"quoted\" text\n"`, `"a \"quoted\" text\n"`},
		{`"\\"`, `"\\"`},
		{`"\S"`, `"\\S"`}, // an escape that FEEL does not know stays
		{`"PT" + string(n) + "M"`, `"PT5M"`},
		{`"a" + 1`, `null`},
	},
	"numbers are exact decimals": {
		{`0.1 + 0.2`, `0.3`},
		{`.5`, `0.5`},
		{`n * 1.05`, `5.25`},
		{`-n - -3`, `-2`},
		{`-"a"`, `null`},
		{`9999999999999999999999999999999999 + 1`, `10000000000000000000000000000000000`},
		{`9999999999999999999999999999999999 * 99999`, `null`},
		{`large`, `123456789012345678901234567890123456789012345`}, // stays as it came
		{`large + 1`, `null`},
	},
	"comparing": {
		{`5 = 5.0`, `true`},
		{`n != 5`, `false`},
		{`n > 4 and n >= 5 and n < 6 and n <= 5`, `true`},
		{`"a" < "b"`, `true`},
		{`[1, "a"] = [1, "a"]`, `true`},
		{`{a: 1} = {a: 1.0}`, `true`},
		{`{a: 1} = {b: 1}`, `false`},
	},
	"comparing with null is true or false": {
		{`nothing = null`, `true`},
		{`missing = null`, `true`},
		{`missing = true`, `false`},
		{`n != null`, `true`},
		{`missing < 1`, `null`},
	},
	"comparing different types is null": {
		{`n = "5"`, `null`},
		{`n != "5"`, `null`},
		{`flag < true`, `null`},
		{`[1] < [2]`, `null`},
		{`[1] = [1, "a"]`, `false`}, // lists are of one type
	},
	"and, or and not have three values": {
		{`true and missing`, `null`},
		{`missing and false`, `false`},
		{`"text" and false`, `false`},
		{`"text" and true`, `null`},
		{`missing or true`, `true`},
		{`missing or false`, `null`},
		{`true or false and false`, `true`},
		{`not(flag)`, `false`},
		{`not(missing)`, `null`},
		{`not("text")`, `null`},
	},
	"in is true for one of the texts or numbers in brackets": {
		{`"b" in ("a", "b")`, `true`},
		{`2.0 in (1, 2)`, `true`},
		{`"c" in ("a", "b")`, `false`},
		{`missing in ("a", "b")`, `false`},
		{`1 in ("a", "b")`, `null`},
	},
	"if takes else for all but true": {
		{`if n > 4 then "many" else "few"`, `"many"`},
		{`if missing then 1 else 2`, `2`},
		{`if "true" then 1 else 2`, `2`},
		{`if n > 9 then 1 else if n > 4 then 2 else 3`, `2`},
	},
	"unknown names are null": {
		{`missing`, `null`},
		{`claim.missing`, `null`},
		{`n.a`, `null`},
	},
	"lists": {
		{`[1, "a", null, [true]]`, `[1,"a",null,[true]]`},
		{`[]`, `[]`},
		{`claims.id`, `["a","b",null]`},
		{`list contains(["a", "b"], "b")`, `true`},
		{`list contains(["a", "b"], missing)`, `false`},
		{`list contains([null], missing)`, `true`},
		{`list contains("a", "a")`, `null`},
	},
	"a filter sees the item and its keys": {
		{`[1, 2, 3][item >= 2]`, `[2,3]`},
		{`claims[amount > n]`, `[{"amount":50,"id":"b"}]`},
		{`claims[item.id = "a"].amount`, `[5]`},
		{`claims[n = 5 and id = "a"].id`, `["a"]`},
		{`[{item: 1}][item = 1]`, `[{"item":1}]`}, // a key comes first
		{`n[item = 5]`, `null`},
		{`[][item = 1]`, `[]`},
	},
	"contexts see the entries before": {
		{`{a: 1, b: a + 1}.b`, `2`},
		{`{n: 1, "a b": n}`, `{"a b":1,"n":1}`},
		{`{b: a, a: 1}.b`, `null`},
		{`get entries({a: 1})`, `[{"key":"a","value":1}]`},
		{`context([{key: "a", value: 1}, {key: "b", value: null}])`, `{"a":1,"b":null}`},
		{`context([{key: "a"}])`, `null`},
		{`context([{key: 1, value: 1}])`, `null`},
		{
			`context(get entries(claim)[value != null and matches(value, "\S") != false])`,
			`{"amount":100,"claimId":"CLM-1-1"}`,
		},
		{`context(get entries(missing)[value != null])`, `null`},
	},
	"types": {
		{`text instance of string`, `true`},
		{`n instance of number and flag instance of boolean`, `true`},
		{`claims instance of list and claim instance of context`, `true`},
		{`missing instance of string`, `false`},
	},
	"string() writes any value": {
		{`string(null)`, `null`},
		{`string(2.50)`, `"2.50"`},
		{`string(n * 1.00)`, `"5.00"`},
		{`string([1, "a", null])`, `"[1, \"a\", null]"`},
		{`string({b: 1, a: {c: "x"}})`, `"{a:{c:\"x\"}, b:1}"`}, // the keys are sorted
		{`string(duration("PT90M"))`, `"PT1H30M"`},
		{`string(duration("PT0S"))`, `"P0D"`},
		{`string(duration("-P1DT1.5S"))`, `"-P1DT2S"`},
		{`string(now())`, `"2026-11-24T12:00:00Z"`},
	},
	"functions of texts": {
		{`string length("ação")`, `4`},
		{`string length("😀")`, `2`}, // as in Java
		{`substring("teste", 2)`, `"este"`},
		{`substring("teste", 2, 3)`, `"est"`},
		{`substring("teste", -2)`, `"te"`},
		{`substring("😀", 1, 1)`, `"?"`},
		{`substring("teste", 7)`, `null`},
		{`[substring("teste", 7)]`, `null`}, // the whole: Camunda's engine throws an exception
		{`substring(null, 1)`, `null`},
		{`upper case("straße")`, `"STRASSE"`},
		{`lower case("AÇÃO")`, `"ação"`},
		{`contains("timeout", "time")`, `true`},
		{`contains(null, "time")`, `null`},
		{`number("1.50")`, `1.50`},
		{`number("x")`, `null`},
		{`matches(" \n", "\S")`, `false`},
		{`matches("CLM-12", "^CLM-\d+")`, `true`},
		{`matches(n, "\d")`, `null`},
		{`matches("a\tb", "\s")`, `true`},
		{`matches("ab", "\s")`, `false`},
	},
	"null-friendly functions": {
		{`get or else(missing, "PT0S")`, `"PT0S"`},
		{`get or else(n, 1)`, `5`},
		{`is defined(missing)`, `false`},
		{`is defined(n)`, `true`},
	},
	"time": {
		{`duration("P1DT2H")`, `"P1DT2H"`},
		{`duration("PT" + string(n) + "M")`, `"PT5M"`},
		{`duration("5M")`, ``},
		{`duration(text)`, `null`},
		{`if flag then duration("PT1S") else null`, `"PT1S"`},
		{`date and time(now(), "America/Sao_Paulo")`, `"2026-11-24T09:00:00@America/Sao_Paulo"`},
		{`date and time(n, "America/Sao_Paulo")`, `null`},
		{`date and time("2026-11-24T09:00:00-03:00")`, `"2026-11-24T12:00:00Z"`},
		{`date and time("2026-11-24")`, `null`},
		{`date and time(missing)`, `null`},
		{`date and time(now(), "America/Sao_Paulo") + duration("PT" + string(n) + "M")`, `"2026-11-24T09:05:00@America/Sao_Paulo"`},
		{`now() + 1`, `null`},
		{`now() > date and time("2026-11-24T11:00:00Z") + duration("PT59M")`, `true`},
		{`now() <= date and time(now(), "America/Sao_Paulo")`, `true`}, // in any zone
		{`now() < date and time(missing) + duration("PT1S")`, `null`},
		{`duration("PT60M") >= duration("PT1H")`, `true`},
		{`now() > duration("PT1H")`, `null`},
		{`if now() > date and time(missing) then true else false`, `false`},
		{`"PT" + string(6 * number(substring(text, -2))) + "S"`, `null`}, // no digits: a timer would be an incident
		{`if number(substring(text, -2)) >= 0 then "a wait" else "PT0S"`, `"PT0S"`},
	},
	"comments and blanks": {
		{"1 /* one\n */ + // two\n 2", `3`},
		{"\tnull /* answer */", `null`},
	},
}

func TestFacts(t *testing.T) {
	for group, all := range facts {
		t.Run(group, func(t *testing.T) {
			for _, fact := range all {
				e, err := Parse(fact[0])
				if fact[1] == "" {
					check.Fails(t, err, "not supported")
					continue
				}
				check.Must(t, err)
				check.Same(t, fact[1], string(ToJSON(e.Eval(now, lookup))), "%s", fact[0])
			}
		})
	}
}

func TestWhatIsNotSupportedIsRefusedByName(t *testing.T) {
	for text, want := range map[string]string{
		`floor(1)`:                             "at character 1: the function floor()",
		`1 + starts with(a, "b")`:              "at character 5: the function starts with()",
		`substring("a")`:                       "substring() with 1 arguments",
		`substring(string: "a", start: 1)`:     `":" is not supported`,
		`a.contains("x")`:                      `"contains" is not supported`,
		`for x in y return x`:                  `"for" is not supported`,
		`function(x) x`:                        `"function" is not supported`,
		`a between 1 and 2`:                    `at character 3: "between" is not supported`,
		`a in (b)`:                             `after "in" only texts and numbers in brackets are supported`,
		`1 / 2`:                                `"/" is not supported`,
		`[1..2]`:                               `".2" is not supported`,
		`@"2026-01-01"`:                        `"@" is not supported`,
		"`a b`":                                "\"`\" is not supported",
		`a = b = c`:                            `at character 7: "=" is not supported`,
		`1 + if a then 1 else 2`:               `"if" is not supported`,
		`a instance of date`:                   `"date" is not supported`,
		`"\b"`:                                 `the escape`,
		`date and time(now(), "Mars/Olympus")`: "date and time() with 2 arguments",
		`duration("P1M")`:                      "duration() with 1 arguments",
		`now() - 1`:                            "now() is only supported for a result",
		`now() = now()`:                        "now() is only supported for a result",
		`[now()]`:                              "now() is only supported for a result",
		`duration("PT1M") * 2`:                 "duration() is only supported for a result",
		`list contains(a, {b: 1})`:             "an object in list contains()",
		`[1][n]`:                               "a filter without a comparison",
		`matches(a, b)`:                        "matches() with 2 arguments",
		`matches(a, "(?i)b")`:                  "matches() with 2 arguments",
		`matches(a, "b$")`:                     "matches() with 2 arguments",
		strings.Repeat("1", 40):                "a number of so many digits",
		strings.Repeat("(", 20000):             "more than 10000 characters",
		`1 +`:                                  "at character 4: the expression ends too early",
		``:                                     "at character 1: the expression ends too early",
		`"abc`:                                 `"\"" is not supported`,
	} {
		_, err := Parse(text)
		check.Fails(t, err, want)
	}
}

func TestNestedTextsDoNotGrowWithoutBound(t *testing.T) {
	for _, growing := range []string{`"abcdefgh"`, `[1]`, `{a: 1}`} {
		text := "{x: " + growing
		for range 60 { // each entry is twice as large as the one before it
			text += `, y: x, x: if y instance of string then y + y else [y, y]`
		}
		e, err := Parse(text + "}")
		check.Must(t, err)
		check.Same(t, any(nil), e.Eval(now, lookup), "%.30s", text)
	}
}

func TestTimersReadDurations(t *testing.T) {
	for text, want := range map[string]string{
		"PT5M": "5m0s", "P1DT2H": "26h0m0s", "PT0S": "0s", "-PT1H": "-1h0m0s", "PT-5M": "-5m0s", "PT1.5S": "1.5s", "P2D": "48h0m0s",
		"5M": "", "PT": "", "P": "", "P1M": "", "P1Y": "", "pt5m": "", "PT1M1H": "", "PT5.25M": "", "": "", " PT5M": "", "P99999D": "",
	} {
		d, ok := ParseDuration(text).(Duration)
		if ok != (want != "") || ok && d.From(now).Sub(now).String() != want {
			t.Errorf("%q is %v %v, want %q", text, d, ok, want)
		}
	}
}

func TestTimersReadDatesWithAnOffset(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-24T12:00:00Z": "2026-11-24T12:00:00Z", "2026-11-24T09:00:00.5-03:00": "2026-11-24T12:00:00.5Z",
		"2026-11-24T12:00:00": "", "2026-11-24": "", "2026-02-30T12:00:00Z": "", "tomorrow": "",
	} {
		d, ok := ParseDateTime(text).(DateTime)
		if ok != (want != "") || ok && d.Time().Format(time.RFC3339Nano) != want {
			t.Errorf("%q is %v %v, want %q", text, d, ok, want)
		}
	}
}

func TestTypesAreNamedLikeABrokerDoes(t *testing.T) {
	for text, want := range map[string]string{
		`null`: "NULL", `true`: "BOOLEAN", `1`: "NUMBER", `large`: "NUMBER", `"a"`: "STRING", `[]`: "ARRAY", `{}`: "OBJECT",
		`duration("PT1S")`: "DURATION", `now()`: "DATE_TIME",
	} {
		e, err := Parse(text)
		check.Must(t, err)
		check.Same(t, want, TypeName(e.Eval(now, lookup)), "%s", text)
	}
}

func TestVariablesKeepTheirJSON(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `1.50`, `-3`, `1e400`, `18446744073709551616`, `"<&>"`, `"\u2028"`, `[1,[]]`, `{"a":{"b":null}}`,
	} {
		check.Same(t, text, string(ToJSON(FromJSON([]byte(text)))), "%s", text)
	}
	check.Same(t, any(nil), FromJSON([]byte(`{"a":1}x`)), "no JSON")
}

func FuzzParse(f *testing.F) {
	for _, all := range facts {
		for _, fact := range all {
			f.Add(fact[0])
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		got := ToJSON(e.Eval(now, lookup))
		if !json.Valid(got) {
			t.Errorf("%q gives %q", text, got)
		}
		again, err := Parse(e.String())
		check.Must(t, err)
		check.Same(t, string(got), string(ToJSON(again.Eval(now, lookup))), "%q again", text)
	})
}
