package input

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

// odd are process variables that no sound model sends, each with what becomes of the job: an incident about
// some variables, or a decision, for which some variables are ignored.
func odd(tb testing.TB) map[string][]string {
	tb.Helper()
	all := map[string][]string{ // documents that are odd as a whole
		`{"claimId":1,"submissionError":"","retryCount":"2","retryUntil":"soon","retryAfter":"soon"}`: {"claimId", "submissionError", "retryCount", "retryUntil"},
		`{}`: {"claimId", "submissionError"},
		`{"CLAIMID":"CLM-001-1","submissionerror":"TIMEOUT"}`:                                            {"claimId", "submissionError"},
		`{"claimId":1,"claimId":"CLM-001-1","submissionError":"TIMEOUT"}`:                                nil, // the last one counts
		`{"claimId":"CLM-001-1","claimId":1,"submissionError":"TIMEOUT"}`:                                {"claimId"},
		`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","patient":{"cpf":"123.456.789-09"},"":null}`: nil,
	}
	for _, document := range []string{
		"", "null", `[{"claimId":"CLM-001-1"}]`, `"TIMEOUT"`, "{", "{}{}", "\xff\xfe", "\x00", "\ufeff{}", `{"claimId":"CLM-001-1",}`, strings.Repeat("[", 100_000),
	} {
		all[document] = []string{"variables"}
	}
	content, err := os.ReadFile("testdata/odd.tsv")
	check.Must(tb, err)
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		variables := map[string]json.RawMessage{"claimId": []byte(`"CLM-001-1"`), "submissionError": []byte(`"TIMEOUT"`), "retryCount": []byte(`1`)}
		switch name, value := fields[0], fields[2]; value {
		case "":
			delete(variables, name)
		case "LONG":
			variables[name] = []byte(`"` + strings.Repeat("A", 1<<20) + `"`)
		case "DEEP":
			variables[name] = []byte(strings.Repeat("[", 999) + strings.Repeat("]", 999))
		default:
			variables[name] = []byte(value)
		}
		var members []string
		for name, value := range variables {
			members = append(members, `"`+name+`":`+string(value))
		}
		slices.Sort(members)
		all["{"+strings.Join(members, ",")+"}"] = map[string][]string{"incident": {fields[0]}, "ignored": {"(" + fields[0] + ")"}}[fields[1]]
	}
	return all
}

func TestOddVariablesEndInAClearIncidentOrADecision(t *testing.T) {
	inputs := odd(t)
	if len(inputs) < 200 {
		t.Fatalf("the table has shrunk to %d inputs", len(inputs))
	}
	for variables, want := range inputs {
		d := ReadDecision(&job.Job{Variables: variables}, policy.BuiltIns(), "tiss")
		var got []string
		for _, f := range d.Invalid {
			got = append(got, f.Name)
		}
		for _, name := range d.Request.Ignored {
			if d.Invalid == nil {
				got = append(got, "("+name+")")
			}
		}
		check.Same(t, want, got, "faults, and variables that are ignored, of %.200s", variables)
		if d.Invalid == nil {
			_, err := json.Marshal(d.Policy.Decide(d.Request, time.Date(2025, 1, 12, 10, 0, 0, 0, time.UTC)).Explanation)
			check.Must(t, err)
		}
		if text := d.Invalid.Text().String(); len(text) > 1000 {
			t.Errorf("%.200s: the incident's text has %d bytes, nobody reads that", variables, len(text))
		}
	}
}
