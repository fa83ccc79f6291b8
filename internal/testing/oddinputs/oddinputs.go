// Package oddinputs lists process variables that no sound model sends. The handler's tests check how each is answered.
package oddinputs

import (
	"fmt"
	"slices"
	"strings"
)

// Input is one set of process variables.
type Input struct {
	// Name says what is unusual about it.
	Name string
	// Variables is the JSON text, which need not be valid JSON.
	Variables string
	// Faulty names the variables an incident must complain of; with none, the job is decided.
	Faulty []string
}

// All returns the whole table, some 400 inputs.
func All() []Input {
	var all []Input
	for variable, values := range map[string]struct{ faulty, decided []string }{
		"claimId":            {faultyClaimIDs, decidedClaimIDs},
		"submissionError":    {faultyErrors, decidedErrors},
		"retryCount":         {faultyCounts, decidedCounts},
		"retryUntil":         {slices.Concat(faultyTimes, ancientTimes), decidedTimes},
		"lastSubmissionTime": {nil, slices.Concat(faultyTimes, decidedTimes, ancientTimes, outsideTimes)},
		"retryAfter":         {nil, slices.Concat(faultyTimes, decidedTimes, ancientTimes, outsideSpans)},
	} {
		for _, value := range values.faulty {
			all = append(all, Input{Name: name(variable, value), Variables: with(variable, value), Faulty: []string{variable}})
		}
		for _, value := range values.decided {
			all = append(all, Input{Name: name(variable, value), Variables: with(variable, value)})
		}
	}
	return append(all, documents...)
}

// missing stands for a variable that is left out.
const missing = ""

func name(variable, value string) string {
	if value == missing {
		return variable + " missing"
	}
	if len(value) > 60 {
		return fmt.Sprintf("%s %s... of %d bytes", variable, value[:20], len(value))
	}
	return variable + " " + value
}

// with returns a sound set of variables in which one is replaced.
func with(variable, value string) string {
	sound := []struct{ name, value string }{
		{"claimId", `"CLM-001-1"`},
		{"submissionError", `"TIMEOUT"`},
		{"retryCount", `1`},
		{"lastSubmissionTime", `null`},
		{"retryUntil", `null`},
		{"retryAfter", `null`},
	}
	var members []string
	for _, v := range sound {
		if v.name == variable {
			v.value = value
		}
		if v.value != missing {
			members = append(members, fmt.Sprintf("%q:%s", v.name, v.value))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func text(size int) string { return `"` + strings.Repeat("A", size) + `"` }

// nested is a list in a list in a list. Together with the variables' own object this makes levels levels.
func nested(levels int) string {
	return strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1)
}

var faultyClaimIDs = []string{
	missing, `null`, `123`, `12345678909`, `1.5`, `-1`, `9223372036854775808`, `true`, `false`, `[]`, `["CLM-001-1"]`, `{}`, `{"id":"CLM-001-1"}`,
	`""`, `" "`, `"\t"`, `"\u0000"`, `"CLM"`, `"CLM-"`, `"CLM--"`, `"CLM-1"`, `"CLM-1-"`, `"CLM-1-a"`, `"CLM-1-1 "`, `" CLM-1-1"`,
	`"clm-1-1"`, `"XCLM-1-1"`, `"CLM_1_1"`, `"CLM-1-1\n"`, `"CLM-\n-1"`, `"CLM-\r\n-1"`, `"CLM-\u0000-1"`, `"CLM-\u0007-1"`,
	`"CLM-\u001b[31m-1"`, `"CLM-\u202e-1"`, `"CLM-\u200b-1"`, `"CLM-\ufeff-1"`, `"CLM-\u2028-1"`, `"CLM-\ud800-1"`, `"\udc00CLM-1-1"`,
	`"CLM-1-٣"`, `"CLM-1-１"`, `"CLM−1−1"`, `"123.456.789-09"`, `"João da Silva"`, `"=claimId"`, `"\"CLM-1-1\""`,
	`"CLM-` + strings.Repeat("1", 130) + `-1"`, text(1 << 20), nested(1000),
}

var decidedClaimIDs = []string{
	`"CLM--1"`, `"CLM-ENC-001-1234567890"`, `"CLM-ÇÃO-1"`, `"CLM-'; DROP TABLE claims; ---1"`, `"CLM-<b>-1"`, `"CLM-\u0041-1"`, `"CLM-💉-1"`,
}

var faultyErrors = []string{
	missing, `null`, `""`, `" "`, `"\n"`, `"\t \r\n"`, `"\u00a0"`, `"\u2003"`, `"\u3000"`, `"\u0085"`,
	`503`, `0`, `-1`, `2.5`, `1e30`, `true`, `false`, `[]`, `["TIMEOUT"]`, `{}`, `{"code":"TIMEOUT"}`, nested(1000),
}

var decidedErrors = []string{
	`"\u0000"`, `"TIME\u0000OUT"`, `"\u202eTUOEMIT"`, `"\ud800 TIMEOUT"`, `"\udc00"`, `"\u200b"`, `"💥"`, `"null"`, `"\""`, `"\\"`, `"\\u0000"`,
	`"<soap:Envelope><soap:Fault>TIMEOUT</soap:Fault></soap:Envelope>"`, `"</script><script>alert(1)</script>"`, `"${jndi:ldap://x}"`,
	`"'; DROP TABLE decisions; --"`, `"%s%n%x"`, `"\u001b[2J"`, `"{\"shouldRetry\":true}"`, `"a\nb\rc\td"`, `"INVALID_PATIENT_DATA and TIMEOUT"`,
	`"tımeout"`, `"ＴＩＭＥＯＵＴ"`, `"(a+)+$"`, text(1 << 20), `"TIMEOUT ` + strings.Repeat(" ", 1<<20) + `"`,
}

var faultyCounts = []string{
	`-1`, `-0.5`, `0.5`, `2.5`, `1e-1`, `4.9999`, `2147483648`, `-2147483649`, `9223372036854775807`, `9223372036854775808`,
	`-9223372036854775809`, `18446744073709551616`, `1e30`, `1e308`, `-1e30`, `"2"`, `"2.0"`, `"0"`, `""`, `"two"`, `" 2"`, `"0x2"`, `"NaN"`,
	`"Infinity"`, `true`, `false`, `[]`, `[2]`, `{}`, `{"n":2}`, text(1 << 20), nested(1000),
}

var decidedCounts = []string{
	missing, `null`, `0`, `-0`, `0.0`, `2.0`, `2e0`, `20e-1`, `1E0`, `4`, `5`, `6`, `1000`, `2147483647`,
}

var faultyTimes = []string{
	`""`, `" "`, `"yesterday"`, `"2025-13-01T00:00:00Z"`, `"2025-02-30T00:00:00Z"`, `"2025-01-12"`, `"10:40"`, `"2025-01-12 10:40:00"`,
	`"12/01/2025 10:40"`, `"2025-01-12T25:00:00Z"`, `"2025-01-12T10:40:60Z"`, `"2025-01-12T10:40:00[America/Sao_Paulo]"`, `"2025-01-12T10:40:00Z[Etc/UTC"`, `"2025-01-12T10:40:00@Etc/UTC"`,
	`"2025-01-12T10:40:00Z "`, `"PT5M"`, `"now()"`, `"\u0000"`, `1736678400`, `1736678400000`, `1.5`, `-1`, `true`, `false`, `[]`,
	`[2025,1,12,10,40]`, `{}`, `{"year":2025}`, text(1 << 20), nested(1000),
}

var decidedTimes = []string{
	missing, `"2025-01-12T10:40:00Z"`, `"2025-01-12T10:40:00-03:00"`, `"2025-01-12T10:40:00.123456789Z"`, `"2025-01-12T10:40:00"`,
	`"2025-01-12T10:40"`, `"2025-01-12T10:40:00.5"`, `"2026-11-21T05:37:53.539Z[Etc/UTC]"`, `"2025-01-12T10:40:00-03:00[America/Sao_Paulo]"`, `"9999-12-31T23:59:59Z"`, `"2018-11-04T00:30:00"`,
}

// ancientTimes are what unset variables of other systems turn into. retryUntil refuses them: the zero time would mean that
// there is no deadline.
var ancientTimes = []string{
	`"0001-01-01T00:00:00Z"`, `"0001-01-01T00:00:00"`, `"0000-12-31T00:00:00Z"`, `"1899-12-30T00:00:00Z"`, `"1970-01-01T00:00:00Z"`, `"1999-12-31T23:59:59Z"`,
}

// outsideTimes and outsideSpans are how other systems write a time, and when to come back.
var (
	outsideTimes = []string{
		`"2026-11-21 10:00:00"`, `"2026-11-21T10:00:00-0300"`, `"2026-11-21 13:00:00+00"`, `1795266000000`, `1795266000`, `"1795266000"`, `1.795266e9`,
		`"Sat, 21 Nov 2026 13:00:00 GMT"`, `"21/11/2026 10:00:00"`, `"01/02/2026"`, `"20261121100000-0300"`, `"2026-11-21T10:00:00,5"`, `"Sat Nov 21 10:00:00 BRT 2026"`, `1e20`,
	}
	outsideSpans = []string{
		`120`, `"120"`, `" 120 "`, `0`, `-0`, `1.5`, `1.2e2`, `1e9`, `1e20`, `1795266000`, `1795266000000`, `"60s"`, `"1m30s"`, `"2 min"`, `"PT60S"`, `"PT1,5S"`,
		`"-60s"`, `"120, 120"`, `"60, 120"`, `"1,5"`, `"1,500"`, `"120,"`, `"Wed, 21 Oct 2026 07:28:00 UTC"`, `"Wed, 21 Oct 2026 07:28:00 GMT, Wed, 21 Oct 2026 07:28:00 GMT"`,
		`"2026-10-21 07:28:00"`, `"soon"`, `"null"`, `"00:02:00"`,
	}
)

// documents are odd as a whole.
var documents = []Input{
	{Name: "everything wrong at once", Variables: `{"claimId":1,"submissionError":"","retryCount":"2","retryUntil":"soon","retryAfter":"soon"}`, Faulty: []string{"claimId", "submissionError", "retryCount", "retryUntil"}},
	{Name: "no variables", Variables: `{}`, Faulty: []string{"claimId", "submissionError"}},
	{Name: "names in another case", Variables: `{"CLAIMID":"CLM-001-1","submissionerror":"TIMEOUT"}`, Faulty: []string{"claimId", "submissionError"}},
	{Name: "duplicate keys: the last counts", Variables: `{"claimId":1,"claimId":"CLM-001-1","submissionError":"TIMEOUT"}`},
	{Name: "duplicate keys: the last is wrong", Variables: `{"claimId":"CLM-001-1","claimId":1,"submissionError":"TIMEOUT"}`, Faulty: []string{"claimId"}},
	{Name: "foreign variables", Variables: `{"claimId":"CLM-001-1","submissionError":"TIMEOUT","patient":{"cpf":"123.456.789-09"},"":null}`},
	{Name: "a count too large for a double", Variables: `{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":1e400}`, Faulty: []string{"retryCount"}},
	raw("empty", ""), raw("blank", " "), raw("null", "null"), raw("list as root", "[]"), raw("list of an object", `[{"claimId":"CLM-001-1"}]`),
	raw("number", "1"), raw("boolean", "true"), raw("text", `"TIMEOUT"`), raw("unclosed", "{"), raw("value missing", `{"claimId":}`),
	raw("two documents", "{}{}"), raw("not UTF-8", "\xff\xfe"), raw("NUL", "\x00"), raw("byte order mark", "\ufeff{}"), raw("single quotes", `{'claimId':'CLM-001-1'}`),
	raw("comment", "{/* */}"), raw("trailing comma", `{"claimId":"CLM-001-1",}`), raw("100,000 open lists", strings.Repeat("[", 100_000)),
	raw("100,000 open objects", strings.Repeat(`{"a":`, 100_000)),
}

func raw(name, text string) Input {
	return Input{Name: "root: " + name, Variables: text, Faulty: []string{"variables"}}
}
