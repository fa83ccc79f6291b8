package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// explained is what explain says on a terminal of 80 columns.
func explained(t *testing.T, args ...string) string {
	t.Helper()
	stdout := with().must(t, append([]string{"explain"}, args...)...)
	checkScreen(t, stdout)
	return stdout
}

func TestExplainNamesSettlingStepAndBounds(t *testing.T) {
	const short = "testdata/policies.yaml:short"
	for _, test := range []struct{ args, want []string }{
		{[]string{"--error", "TIMEOUT"}, []string{
			"try again in 5 to 6 min, retry 1 of 4, settled by the back-off", "5 min, with jitter 5 to 6 min, bounded by the policy's min",
		}},
		{[]string{"--error", "TIMEOUT", "--retry-after", "1800"}, []string{
			"try again in 30 to 36 min, retry 1 of 4, settled by the hint", "30 to 36 min: the other side asked to come back after 30 min (variable retryAfter)",
		}},
		{[]string{"--error", "TIMEOUT Retry-After: 1800"}, []string{
			"the other side asked to come back after 30 min (Retry-After)",
		}},
		{[]string{"--error", "TIMEOUT", "--retry-after", "36000"}, []string{
			"try again in 240 min", "come back after 10 h (variable retryAfter), capped at 240 min",
		}},
		{[]string{"--error", "TIMEOUT", "--retry-after", "PT45M"}, []string{
			"45 to 54 min: the other side asked to come back after 45 min (variable retryAfter)",
		}},
		{[]string{"--error", "TIMEOUT", "--retry-after", "soon"}, []string{
			"try again in 5 to 6 min, retry 1 of 4, settled by the back-off", "Ignored retryAfter has no known form",
		}},
		{[]string{"--error", "TIMEOUT", "--retry-after", "2026-01-12T10:01:00Z"}, []string{
			"try again in 5 to 6 min", "come back at 2026-01-12T10:01:00Z (variable retryAfter), raised to the policy's min",
		}},
		{[]string{"--error", "3091 PERÍODO DE 12/01/2026 08:00 ATÉ 15/01/2026"}, []string{
			"the insurer's window for submissions opens 2026-01-12T11:00:00Z",
		}},
		{[]string{"--error", "TIMEOUT", "--retry-count", "3", "--retry-until", "2026-01-12T10:20:30Z"}, []string{
			"try again in 20 min, retry 4 of 4", "40 min, pulled forward to the deadline 2026-01-12T10:20:30Z: 20 min",
		}},
		{[]string{"--error", "TIMEOUT", "--deadline", "1h", "--first-failure", "2026-01-12T09:02:00Z"}, []string{
			"stop, BPMN error MAX_RETRIES_EXCEEDED, settled by the deadline", "no retry fits before the deadline 2026-01-12T10:02:00Z;",
			"overridden: deadline 60 min",
		}},
		{[]string{"--error", "EXPIRED", "--retry-count", "4"}, []string{
			"settled by the count", "retry count 4 has reached the limit of 4, whatever the error; the error is PERMANENT: it contains EXPIRED",
		}},
		{[]string{"--error", "TIMEOUT, EXPIRED", "--retry-after", "600"}, []string{
			"stop, BPMN error PERMANENT_ERROR, settled by the class", "the registration team",
		}},
		{[]string{"--error", "boom", "--max-retries", "2", "--base", "1m", "--max", "90m"}, []string{
			"retry 1 of 2", "UNKNOWN: no rule of the policy matches it", "overridden: maxRetries 2, base 1 min, max 90 min",
		}},
	} {
		contains(t, strings.Join(test.args, " "), explained(t, append([]string{"--policy", short}, test.args...)...), test.want...)
	}
}

func TestWaitsBelowAMinuteAreExact(t *testing.T) {
	got := explained(t, "--policy", "fast", "--error", "boom", "--claim", "JOB-1")
	contains(t, "explain", got, "try again in 1 s, retry 1 of 3", "1 s before and after jitter", "31 s")
	if strings.Contains(got, "process instance 0") {
		t.Errorf("without jitter there is nothing to sample:\n%s", got)
	}
	var shown struct {
		Schedule []struct {
			WaitMinutes, TotalMinutes int
			ISO8601                   struct{ Wait, Total string }
		}
	}
	with().decodes(t, 0, &shown, "explain", "--policy", "fast", "--error", "boom", "--claim", "JOB-1")
	last := shown.Schedule[2]
	if last.WaitMinutes != 1 || last.TotalMinutes != 1 || last.ISO8601.Wait != "PT25S" || last.ISO8601.Total != "PT31S" {
		t.Errorf("the last wait: %+v", last)
	}
}

func TestExplainUsesTheConfiguredFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, file, "policies:\n  - {name: tiss, extends: tiss, maxRetries: 9}\n")
	with("RETRY_POLICIES_FILE="+file).prints(t, []string{"explain", "--error", "TIMEOUT"}, "retry 1 of 9")
	with("RETRY_POLICIES_FILE=testdata/policies.yaml").prints(t, []string{"explain", "--error", "TIMEOUT", "--policy", "short"}, "Policy short, version")
}

func TestReadmeShowsARealExplanation(t *testing.T) {
	readme := read(t, "../../docs/rule.md")
	want := explained(t, "--error", "TIMEOUT ao conectar", "--retry-count", "1", "--claim", "CLM-001-1")
	if !strings.Contains(readme, "$ bin/worker explain --error \"TIMEOUT ao conectar\" --retry-count 1 --claim CLM-001-1\n"+want+"```\n") {
		t.Errorf("docs/rule.md does not hold this:\n%s", want)
	}
}

func TestDeadlineWithoutZoneIsInThePolicysZone(t *testing.T) {
	// Policy short has Brazil's time, three hours behind.
	local := explained(t, "--policy", "testdata/policies.yaml:short", "--error", "TIMEOUT", "--retry-count", "3", "--retry-until", "2026-01-12T07:20:30")
	if zoned := explained(t, "--policy", "testdata/policies.yaml:short", "--error", "TIMEOUT", "--retry-count", "3", "--retry-until", "2026-01-12T10:20:30Z"); local != zoned {
		t.Errorf("the local time gives\n%s\nthe same in UTC\n%s", local, zoned)
	}
	first := []string{"--error", "TIMEOUT", "--deadline", "1h", "--json", "--first-failure"}
	if local, zoned := explained(t, append(first, "2026-01-12T06:30")...), explained(t, append(first, "2026-01-12T09:30:00Z")...); local != zoned {
		t.Errorf("the local time gives\n%s\nthe same in UTC\n%s", local, zoned)
	}
}
