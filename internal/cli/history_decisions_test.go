package cli_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/policy"
)

// ofJobs is a store of what a worker has decided about jobs of a type, an hour ago.
func ofJobs(t *testing.T, jobType, policyName string, jobs ...job.Job) *archive {
	t.Helper()
	a := archived(t, nil)
	store := a.open(t)
	file := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, file, "policies:\n  - {name: bounded, extends: tiss, deadline: 72h}\n")
	policies, err := policy.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		jobs[i].Key, jobs[i].ProcessInstanceKey, jobs[i].Retries = int64(i+1), 7, 3
		jobs[i].ProcessID, jobs[i].ElementID = "SUB_06", "analyze"
	}
	w := a.worker(store, jobType, policyName, policies.Current)
	w.now = today.Add(-time.Hour)
	handle(t, w.decide, jobs)
	closed(t, store)
	return a
}

// lastOf is what the last record of a claim tells, with what its steps found.
type lastOf struct {
	Kind                string
	Answer              map[string]any
	MaxRetries          int
	ErrorClassification string
	RetryDecision       *contract.Explanation
	Steps               []struct{ Found string }
}

func (a *archive) last(t *testing.T, claim string) (status string, last lastOf) {
	t.Helper()
	var got struct {
		Status  string
		Records []lastOf
	}
	a.decodes(t, 0, &got, "history", claim)
	checkScreen(t, a.must(t, "history", claim))
	return got.Status, got.Records[len(got.Records)-1]
}

func TestHistoryNamesSettlingStepAndBounds(t *testing.T) {
	for what, test := range map[string]struct {
		policy, variables, headers    string
		classified, waits, taken, due string // what these steps found
	}{
		"the policy's own wait": {
			policy: "tiss", variables: `"submissionError":"RATE_LIMIT"`,
			classified: "TRANSIENT: it contains RATE_LIMIT (rule transient.RATE_LIMIT)",
			waits:      "5 min, with jitter 6 min, bounded by the policy's min", taken: "try again, retry 1 of 5, settled by the back-off",
			due: "for 2026-01-12T09:06:00Z",
		},
		"what may have arrived": {
			policy: "tiss", variables: `"submissionError":"DUPLICATE_CLAIM"`,
			classified: "PERMANENT: it contains DUPLICATE_CLAIM (rule permanent.DUPLICATE_CLAIM)", waits: "none",
			taken: "stop: BPMN error PERMANENT_ERROR, settled by the class; check the protocol's status before sending again, for it may have arrived",
			due:   "none",
		},
		"a hint that comes too late": {
			policy: "tiss", variables: `"submissionError":"503 Retry-After: 600","retryCount":5`,
			classified: "TRANSIENT: it contains 503 (rule transient.503)",
			waits:      "none, although the other side asked to come back after 10 min (Retry-After)",
			taken:      "stop: BPMN error MAX_RETRIES_EXCEEDED, settled by the count", due: "none",
		},
		"variables that cannot be read": {
			policy: "tiss", variables: `"submissionError":"RATE_LIMIT","retryAfter":"1,5","lastSubmissionTime":[2026]`,
			classified: "TRANSIENT: it contains RATE_LIMIT (rule transient.RATE_LIMIT)",
			waits: "5 min, with jitter 6 min, bounded by the policy's min " +
				"(ignored: lastSubmissionTime is neither a text nor a number, retryAfter can mean more than one thing)",
			taken: "try again, retry 1 of 5, settled by the back-off", due: "for 2026-01-12T09:06:00Z",
		},
		"a deadline that is too near": {
			policy: "tiss", variables: `"submissionError":"503","retryUntil":"2026-01-12T09:02:00Z"`,
			classified: "TRANSIENT: it contains 503 (rule transient.503)", waits: "none",
			taken: "stop: BPMN error MAX_RETRIES_EXCEEDED, no retry fits before the deadline 2026-01-12T09:02:00Z, settled by the deadline", due: "none",
		},
		"a policy's deadline": {
			policy: "bounded", variables: `"submissionError":"503"`,
			classified: "TRANSIENT: it contains 503 (rule transient.503)", waits: "5 min before and after jitter, bounded by the policy's min",
			taken: "try again, retry 1 of 5, settled by the back-off", due: "for 2026-01-12T09:05:00Z; the deadline is 2026-01-15T09:00:00Z",
		},
		"overrides of the task": {
			policy: "tiss", variables: `"submissionError":"503"`, headers: `{"maxRetries":"2","base":"2m","max":"1h"}`,
			classified: "TRANSIENT: it contains 503 (rule transient.503)",
			waits:      "2 min before and after jitter, bounded by the policy's min (overridden for this job: maxRetries 2, base 2 min, max 60 min)",
			taken:      "try again, retry 1 of 2, settled by the back-off", due: "for 2026-01-12T09:02:00Z",
		},
		"overrides of a job of a queue": {
			policy: "job-queue", variables: `"submissionError":"boom","max_attempts":8,"retry_delay":1500,"retryCount":2`,
			classified: "TRANSIENT: no rule of the policy matches it",
			waits:      "6 s before and after jitter (overridden for this job: maxRetries 7, base 1.5 s)",
			taken:      "try again, retry 3 of 7, settled by the back-off", due: "for 2026-01-12T09:00:06Z",
		},
	} {
		t.Run(what, func(t *testing.T) {
			claim := "CLM-1-7"
			if test.policy == "job-queue" {
				claim = "JOB-1"
			}
			a := ofJobs(t, contract.JobType, test.policy, job.Job{Variables: `{"claimId":"` + claim + `",` + test.variables + `}`, Headers: test.headers})
			_, last := a.last(t, claim)
			if len(last.Steps) != 6 {
				t.Fatalf("record %+v", last)
			}
			for i, want := range map[int]string{1: test.classified, 3: test.waits, 4: test.taken, 5: test.due} {
				if got := last.Steps[i].Found; got != want {
					t.Errorf("step %d: %s\nwant    %s", i, got, want)
				}
			}
			if last.RetryDecision != nil || last.MaxRetries != 0 {
				t.Errorf("told twice, in the answer and beside it: %+v", last.RetryDecision)
			}
		})
	}
}

func TestDeadlineIsNotReportedAsUsedUpRetries(t *testing.T) {
	a := ofJobs(t, contract.JobType, "tiss", job.Job{Variables: `{"claimId":"CLM-1-7","submissionError":"503","retryUntil":"2026-01-12T09:02:00Z"}`})
	a.prints(t, []string{"history", "CLM-1-7"}, "Now: no retry fits before the deadline 2026-01-12T09:02:00Z; the billing team reviews the claim")
	if status, _ := a.last(t, "CLM-1-7"); status != "exhausted" {
		t.Errorf("status %s", status)
	}
}

func TestHistoryOfBackoffJobsHasTheWholeDecision(t *testing.T) {
	a := ofJobs(t, contract.BackoffJobType, "tiss", job.Job{Variables: `{"claimId":"CLM-1-7","submissionError":"RATE_LIMIT","retryAfter":1200}`})
	_, last := a.last(t, "CLM-1-7")
	if _, there := last.Answer["retryDecision"]; there || last.Answer["retryReason"] != "Retry 1 of 5" {
		t.Errorf("answer %v", last.Answer)
	}
	if d := last.RetryDecision; d == nil || d.Policy != "tiss" || d.Reason != "HINT" || d.Hint == nil || d.Hint.After != "PT20M" || d.BackoffDuration != "PT20M" ||
		last.MaxRetries != 5 || last.ErrorClassification != "TRANSIENT" {
		t.Errorf("told beside the answer: %+v", last)
	}
	for i, want := range []string{
		"RATE_LIMIT", "TRANSIENT: it contains RATE_LIMIT (rule transient.RATE_LIMIT)", "0 of 5 retries used",
		"20 min, no jitter: the other side asked to come back after 20 min (variable retryAfter)", "try again, retry 1 of 5, settled by the hint",
		"for 2026-01-12T09:20:00Z",
	} {
		if got := last.Steps[i].Found; got != want {
			t.Errorf("step %d: %s\nwant    %s", i, got, want)
		}
	}
}

func TestExportHoldsTheWholeDecision(t *testing.T) {
	for jobType, where := range map[string]string{contract.JobType: "variables", contract.BackoffJobType: "detail"} {
		a := ofJobs(t, jobType, "bounded", job.Job{Variables: `{"claimId":"CLM-1-7","submissionError":"TIMEOUT","retryAfter":1200}`})
		var exported map[string]json.RawMessage
		unmarshal(t, a.must(t, "audit", "export", "CLM-1-7"), &exported)
		var part struct{ RetryDecision map[string]any }
		if err := json.Unmarshal(exported[where], &part); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"policy", "policyVersion", "ruleId", "matchedCode", "reason", "delayBeforeJitter", "backoffDuration", "retriesLeft", "hint", "deadline", "advice"} {
			if _, there := part.RetryDecision[name]; !there {
				t.Errorf("%s: the %s lack retryDecision.%s: %v", jobType, where, name, part.RetryDecision)
			}
		}
	}
}
