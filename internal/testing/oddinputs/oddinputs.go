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

// All returns the whole table, some 200 inputs.
func All() []Input {
	var all []Input
	for variable, values := range map[string]struct{ faulty, decided []string }{
		"claimId":            {faultyClaimIDs, decidedClaimIDs},
		"submissionError":    {faultyErrors, decidedErrors},
		"retryCount":         {faultyCounts, decidedCounts},
		"retryUntil":         {slices.Concat(faultyTimes, ancientTimes), decidedTimes},
		"lastSubmissionTime": {nil, slices.Concat(faultyTimes, decidedTimes, ancientTimes, outside)},
		"retryAfter":         {nil, slices.Concat(faultyTimes, decidedTimes, ancientTimes, outside)},
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
	missing, `null`, `123`, `1.5`, `true`, `[]`, `{"id":"CLM-001-1"}`, `""`, `" "`, `"CLM--"`, `"CLM-1"`, `"CLM-1-a"`, `"CLM-1-1 "`, `" CLM-1-1"`, `"clm-1-1"`,
	`"CLM-1-1\n"`, `"CLM-\u0000-1"`, `"CLM-\u202e-1"`, `"CLM-\u2028-1"`, `"CLM-\ud800-1"`, `"CLM-1-٣"`, `"CLM−1−1"`, `"João da Silva"`, `"=claimId"`,
	`"CLM-` + strings.Repeat("1", 130) + `-1"`, text(1 << 20), nested(1000),
}

var decidedClaimIDs = []string{
	`"CLM--1"`, `"CLM-ÇÃO-1"`, `"CLM-'; DROP TABLE claims; ---1"`, `"CLM-\u0041-1"`, `"CLM-💉-1"`,
}

var faultyErrors = []string{
	missing, `null`, `""`, `" "`, `"\t \r\n"`, `"\u00a0"`, `"\u0085"`, `"\u200b"`, `"\u0000"`, `" \ufeff\u3164\u00ad"`, `503`, `2.5`, `true`, `["TIMEOUT"]`, `{"code":"TIMEOUT"}`, nested(1000),
}

var decidedErrors = []string{
	`"TIME\u0000OUT"`, `"\u202eTUOEMIT"`, `"\ud800 TIMEOUT"`, `"null"`, `"\""`, `"\\u0000"`, `"'; DROP TABLE decisions; --"`, `"%s%n%x"`,
	`"{\"shouldRetry\":true}"`, `"tımeout"`, `"ＴＩＭＥＯＵＴ"`, text(1 << 20), `"TIMEOUT ` + strings.Repeat(" ", 1<<20) + `"`,
}

var faultyCounts = []string{
	`-1`, `0.5`, `2.5`, `4.9999`, `2147483648`, `-2147483649`, `9223372036854775808`, `1e30`, `1e308`, `3.0000000000000000000000001`, `1e-400`, `1e-999999999`, `"2"`, `"0"`, `""`, `"NaN"`, `true`, `[2]`, `{}`,
	text(1 << 20), nested(1000),
}

var decidedCounts = []string{
	missing, `null`, `0`, `-0`, `2.0`, `20e-1`, `5`, `6`, `2147483647`,
}

var faultyTimes = []string{
	`""`, `"yesterday"`, `"2025-02-30T00:00:00Z"`, `"2025-01-12"`, `"10:40"`, `"2025-01-12 10:40:00"`, `"12/01/2025 10:40"`, `"2025-01-12T10:40:60Z"`,
	`"2025-01-12T10:40:00Z[Etc/UTC"`, `"PT5M"`, `"\u0000"`, `1736678400`, `1.5`, `true`, `[2025,1,12,10,40]`, `{"year":2025}`, text(1 << 20), nested(1000),
}

var decidedTimes = []string{
	missing, `"2025-01-12T10:40:00Z"`, `"2025-01-12T10:40:00.123456789Z"`, `"2025-01-12T10:40"`, `"2025-01-12T10:40:00-03:00[America/Sao_Paulo]"`,
	`"9999-12-31T23:59:59Z"`, `"2018-11-04T00:30:00"`,
}

// ancientTimes are what unset variables of other systems turn into. retryUntil refuses them: the zero time would mean that
// there is no deadline.
var ancientTimes = []string{
	`"0001-01-01T00:00:00Z"`, `"0000-12-31T00:00:00Z"`, `"1970-01-01T00:00:00Z"`, `"1999-12-31T23:59:59Z"`,
}

// outside is how other systems write a time, and when to come back.
var outside = []string{
	`"2026-11-21T10:00:00-0300"`, `1795266000000`, `1795266000`, `"Sat, 21 Nov 2026 13:00:00 GMT"`, `"21/11/2026 10:00:00"`, `"20261121100000-0300"`, `1e20`, `0`, `-0`,
	`" 120 "`, `1.2e2`, `"2 min"`, `"PT60S"`, `"-60s"`, `"60, 120"`, `"1,5"`, `"Wed, 21 Oct 2026 07:28:00 UTC"`, `"soon"`, `"00:02:00"`,
}

// documents are odd as a whole.
var documents = []Input{
	{Name: "everything wrong at once", Variables: `{"claimId":1,"submissionError":"","retryCount":"2","retryUntil":"soon","retryAfter":"soon"}`, Faulty: []string{"claimId", "submissionError", "retryCount", "retryUntil"}},
	{Name: "no variables", Variables: `{}`, Faulty: []string{"claimId", "submissionError"}},
	{Name: "names in another case", Variables: `{"CLAIMID":"CLM-001-1","submissionerror":"TIMEOUT"}`, Faulty: []string{"claimId", "submissionError"}},
	{Name: "duplicate keys: the last counts", Variables: `{"claimId":1,"claimId":"CLM-001-1","submissionError":"TIMEOUT"}`},
	{Name: "duplicate keys: the last is wrong", Variables: `{"claimId":"CLM-001-1","claimId":1,"submissionError":"TIMEOUT"}`, Faulty: []string{"claimId"}},
	{Name: "foreign variables", Variables: `{"claimId":"CLM-001-1","submissionError":"TIMEOUT","patient":{"cpf":"123.456.789-09"},"":null}`},
	{Name: "a count too large for a double", Variables: `{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":1e400}`, Faulty: []string{"retryCount"}},
	raw("empty", ""), raw("null", "null"), raw("list of an object", `[{"claimId":"CLM-001-1"}]`), raw("text", `"TIMEOUT"`), raw("unclosed", "{"),
	raw("two documents", "{}{}"), raw("not UTF-8", "\xff\xfe"), raw("NUL", "\x00"), raw("byte order mark", "\ufeff{}"),
	raw("trailing comma", `{"claimId":"CLM-001-1",}`), raw("100,000 open lists", strings.Repeat("[", 100_000)),
}

func raw(name, text string) Input {
	return Input{Name: "root: " + name, Variables: text, Faulty: []string{"variables"}}
}
