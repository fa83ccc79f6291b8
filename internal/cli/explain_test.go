package cli_test

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/cli"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

// explained is what explain says today, on a terminal of 80 columns.
func explained(t *testing.T, args ...string) string {
	t.Helper()
	set(t)
	var out, complaints bytes.Buffer
	code := cli.RunAt(t.Context(), func() time.Time { return today }, append([]string{"explain"}, args...), &out, &complaints)
	if code != 0 || complaints.Len() > 0 {
		t.Fatalf("worker explain %q: exit code %d, complaint %s", args, code, &complaints)
	}
	checkScreen(t, out.String())
	return out.String()
}

// unwrapped is a text without its line breaks.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestExplainNamesSettlingStepAndBounds(t *testing.T) {
	const short = "testdata/policies.yaml:short"
	for what, test := range map[string]struct {
		args []string
		want []string
	}{
		"the policy's own wait": {
			[]string{"--error", "TIMEOUT"},
			[]string{"try again in 5 to 6 min, retry 1 of 4, settled by the back-off", "5 min, with jitter 5 to 6 min, bounded by the policy's min"},
		},
		"a hint in seconds": {
			[]string{"--error", "TIMEOUT", "--retry-after", "1800"},
			[]string{"try again in 30 min, retry 1 of 4, settled by the hint", "30 min, no jitter: the other side asked to come back after 30 min (variable retryAfter)\n"},
		},
		"a hint in the text": {
			[]string{"--error", "TIMEOUT Retry-After: 1800"},
			[]string{"the other side asked to come back after 30 min (Retry-After)"},
		},
		"a hint beyond max": {
			[]string{"--error", "TIMEOUT", "--retry-after", "36000"},
			[]string{"try again in 240 min", "come back after 10 h (variable retryAfter), capped at 240 min"},
		},
		"a duration as a hint": {
			[]string{"--error", "TIMEOUT", "--retry-after", "PT45M"},
			[]string{"45 min, no jitter: the other side asked to come back after 45 min (variable retryAfter)"},
		},
		"a hint that cannot be read": {
			[]string{"--error", "TIMEOUT", "--retry-after", "soon"},
			[]string{"try again in 5 to 6 min, retry 1 of 4, settled by the back-off", "Ignored retryAfter has no known form\n"},
		},
		"a hint below min": {
			[]string{"--error", "TIMEOUT", "--retry-after", "2026-01-12T10:01:00Z"},
			[]string{"try again in 5 min", "come back at 2026-01-12T10:01:00Z (variable retryAfter), raised to the policy's min"},
		},
		"a window": {
			[]string{"--error", "3091 PERÍODO DE 12/01/2026 08:00 ATÉ 15/01/2026"},
			[]string{"the insurer's window for submissions opens 2026-01-12T11:00:00Z"},
		},
		"a deadline that is near": {
			[]string{"--error", "TIMEOUT", "--retry-count", "3", "--retry-until", "2026-01-12T10:20:30Z"},
			[]string{"try again in 20 min, retry 4 of 4", "40 min, pulled forward to the deadline 2026-01-12T10:20:30Z: 20 min"},
		},
		"a deadline that is too near": {
			[]string{"--error", "TIMEOUT", "--deadline", "1h", "--first-failure", "2026-01-12T09:02:00Z"},
			[]string{
				"stop, BPMN error MAX_RETRIES_EXCEEDED, settled by the deadline", "no retry fits before the deadline 2026-01-12T10:02:00Z;",
				"overridden: deadline 60 min",
			},
		},
		"a count that is used up": {
			[]string{"--error", "EXPIRED", "--retry-count", "4"},
			[]string{"settled by the count", "retry count 4 has reached the limit of 4, whatever the error; the error is PERMANENT: it contains EXPIRED"},
		},
		"a permanent error": {
			[]string{"--error", "TIMEOUT, EXPIRED", "--retry-after", "600"},
			[]string{"stop, BPMN error PERMANENT_ERROR, settled by the class", "the registration team"},
		},
		"overrides": {
			[]string{"--error", "boom", "--max-retries", "2", "--base", "1m", "--max", "90m"},
			[]string{"retry 1 of 2", "UNKNOWN: no rule of the policy matches it", "overridden: maxRetries 2, base 1 min, max 90 min"},
		},
	} {
		got := explained(t, append([]string{"--policy", short}, test.args...)...)
		for _, part := range test.want {
			if !strings.Contains(unwrapped(got)+"\n", strings.TrimSuffix(part, "\n")) {
				t.Errorf("%s: %q is not in\n%s", what, part, got)
			}
		}
	}
}

func TestTheScheduleEndsAtTheDeadlineForEveryClaim(t *testing.T) {
	// With two hours all five retries fit, the last one pulled forward; with 75 minutes the last one fits for some only.
	for text, deadline := range map[string]time.Duration{"2h": 2 * time.Hour, "75m": 75 * time.Minute} {
		p, err := policy.BuiltIn("tiss").With(retry.Overrides{Deadline: deadline})
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"--error", "boom", "--deadline", text, "--json"}
		bands := scheduleOf(t, explained(t, args...))
		lengths := map[int]int{}
		for instance := range int64(40) {
			instance++
			own := scheduleOf(t, explained(t, append(args, "--claim", "CLM-1-1", "--process-instance", strconv.FormatInt(instance, 10))...))
			isThatOf(t, p, instance, own, bands)
			lengths[len(own)]++
		}
		if want := map[string]int{"2h": 1, "75m": 2}[text]; len(lengths) != want {
			t.Errorf("within %s the schedules have these lengths: %v", text, lengths)
		}
	}
}

// isThatOf follows the rule from retry to retry, as time passes, and compares what explain told at the beginning.
func isThatOf(t *testing.T, p *retry.Policy, instance int64, own, bands []toldWait) {
	t.Helper()
	r, at := retry.Request{ClaimID: "CLM-1-1", SubmissionError: "boom", ProcessInstanceKey: instance, FirstFailure: today}, today
	for n := 0; ; n++ {
		d, err := p.Decide(r, at)
		if err != nil {
			t.Fatal(err)
		}
		if d.Outcome != retry.OutcomeRetry {
			if n != len(own) {
				t.Errorf("instance %d: %d waits are told, the rule gives %d", instance, len(own), n)
			}
			return
		}
		all := int(d.NextRetryTime.Sub(today) / time.Minute)
		if n >= len(own) || own[n].WaitMinutes != d.BackoffMinutes() || own[n].TotalMinutes != all {
			t.Fatalf("instance %d, wait %d: told %+v, the rule says %v", instance, n, own, d.Backoff)
		}
		if b := bands[n]; d.BackoffMinutes() < b.ShortestMinutes || d.BackoffMinutes() > b.LongestMinutes ||
			all < b.TotalShortestMinutes || all > b.TotalLongestMinutes {
			t.Errorf("instance %d, wait %d: %+v is not in the band %+v", instance, n, own[n], b)
		}
		r.RetryCount, at = d.RetryCount, d.NextRetryTime
	}
}

type toldWait struct {
	ShortestMinutes, LongestMinutes, WaitMinutes            int
	TotalShortestMinutes, TotalLongestMinutes, TotalMinutes int
}

func scheduleOf(t *testing.T, answer string) []toldWait {
	t.Helper()
	var got struct{ Schedule []toldWait }
	unmarshal(t, answer, &got)
	return got.Schedule
}

func TestExplainAnswersWithTheProcessVariable(t *testing.T) {
	p, err := policy.BuiltIn("tiss").With(retry.Overrides{Deadline: 30 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	hint, _ := retry.ParseRetryAfter("1200", p.Zone)
	d, err := p.Decide(retry.Request{
		ClaimID: "CLM-1-1", SubmissionError: "read timeout", RetryCount: 2, ProcessInstanceKey: 7, RetryAfter: hint,
	}, today)
	if err != nil {
		t.Fatal(err)
	}
	var want, got struct{ RetryDecision any }
	decision := contract.Of(&d, contract.JobType)
	variables, _ := contract.Encode(contract.JobType, &decision, &contract.Detail{})
	unmarshal(t, variables, &want)
	answer := explained(t, "--error", "read timeout", "--retry-count", "2", "--claim", "CLM-1-1", "--process-instance", "7",
		"--retry-after", "1200", "--deadline", "30m", "--json")
	unmarshal(t, answer, &got)
	if diff := cmp.Diff(want.RetryDecision, got.RetryDecision); diff != "" {
		t.Errorf("(-process +explain):\n%s", diff)
	}
}

func TestWaitsBelowAMinuteAreExact(t *testing.T) {
	got := explained(t, "--policy", "fast", "--error", "boom", "--claim", "JOB-1")
	for _, part := range []string{"try again in 1 s, retry 1 of 3", "1 s before and after jitter", "31 s\n"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not in\n%s", part, got)
		}
	}
	if strings.Contains(got, "process instance 0") {
		t.Errorf("without jitter there is nothing to sample:\n%s", got)
	}
	var told struct {
		Schedule []struct {
			WaitMinutes, TotalMinutes int
			ISO8601                   struct{ Wait, Total string }
		}
	}
	unmarshal(t, explained(t, "--policy", "fast", "--error", "boom", "--claim", "JOB-1", "--json"), &told)
	last := told.Schedule[2]
	if last.WaitMinutes != 1 || last.TotalMinutes != 1 || last.ISO8601.Wait != "PT25S" || last.ISO8601.Total != "PT31S" {
		t.Errorf("the last wait: %+v", last)
	}
}

func TestExplainUsesTheConfiguredFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, file, "policies:\n  - {name: tiss, extends: tiss, maxRetries: 9}\n")
	for _, test := range []struct{ file, args, want string }{
		{"testdata/policies.yaml", "--policy short", "Policy     short, version "},
		{file, "", "retry 1 of 9"},
	} {
		args := append([]string{"explain", "--error", "TIMEOUT"}, strings.Fields(test.args)...)
		code, stdout, stderr := worker(t, args, "RETRY_POLICIES_FILE="+test.file)
		if code != 0 || stderr != "" || !strings.Contains(stdout, test.want) {
			t.Errorf("%v: exit code %d, output %q, complaint %q", args, code, stdout, stderr)
		}
	}
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

func TestExplainReportsAllFaultsAtOnce(t *testing.T) {
	for args, want := range map[string]string{
		"--policy tiss --base 0s --max 9600h --deadline=-5m --retry-until x --first-failure y --claim 7 --retry-count -1": `worker: --base is 0s but must be more than 0
worker: --deadline is -5m but must be more than 0
worker: --retry-until is "x" but must be an RFC 3339 time or a local date-time, from the year 2000 on, or absent
worker: --first-failure is "y" but must be an RFC 3339 time or a local date-time, from the year 2000 on, or absent
worker: the overrides make no sense: max is 9600h but must be at most 8784h
worker: --claim is "7" but must be a text that matches CLM-<any>-<digits> on one line, without control characters, at most 128 bytes
worker: --error is empty but must be the text of the submission error, not blank
worker: --retry-count is -1 but must be a whole number, 0 or more (absent counts as 0)
`,
		"--policy nope --base 0s --process-instance 3": `worker: --base is 0s but must be more than 0
worker: --process-instance needs --claim
worker: there is no policy "nope"; there are fast, job-queue, smtp, smtp-dev, tiss. A policy of another file is named FILE:NAME
`,
	} {
		code, stdout, stderr := worker(t, append([]string{"explain"}, strings.Fields(args)...))
		if code != 2 || stdout != "" || stderr != want+"How it is used: worker explain --help\n" {
			t.Errorf("worker explain %s: exit code %d, output %q, complaint\n%s", args, code, stdout, stderr)
		}
	}
}
