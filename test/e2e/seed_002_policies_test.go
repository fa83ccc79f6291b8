package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

// policyFile is a file of policies, and the worker that reads it.
type policyFile struct {
	*office
	path string
}

func withPolicyFile(t *testing.T, names ...string) policyFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policies.yaml")
	writePolicies(t, path, names...)
	return policyFile{atTheOffice(t, "RETRY_POLICIES_FILE="+path), path}
}

// writePolicies writes a file with a policy for each name; the first wait is 90 seconds.
func writePolicies(t *testing.T, path string, names ...string) {
	t.Helper()
	text := "policies:\n"
	for _, name := range names {
		text += "  - {name: " + name + ", extends: job-queue, base: 90s}\n"
	}
	check.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

// isReread has the worker read the file again, and waits until it says this about it.
func (f *policyFile) isReread(words ...string) {
	f.Helper()
	before := len(f.worker.printed())
	f.must(f.worker.Signal(syscall.SIGHUP))
	f.worker.logs(before, words...)
}

// decidesBy asks for a decision by the policy that the task of a process names.
func (f *policyFile) decidesBy(process, name string) {
	f.Helper()
	f.start(process, vars{"claimId": "job_124", "submissionError": "ECONNRESET"}).isDecidedBy(name)
}

func (c *claim) isDecidedBy(name string) {
	c.Helper()
	c.endsAt("EndEvent_Retry")
	c.variables().object(c.T, "retryDecision").hold(c.T, vars{"policy": name, "backoffDuration": "PT90S"})
}

func TestSeed002PolicyCanBeAddedWhileTheWorkerRuns(t *testing.T) {
	f := withPolicyFile(t, "day-queue")
	f.oneTask("NightQueue", "retryPolicy", "night-queue")
	job := f.start("NightQueue", vars{"claimId": "job_123", "submissionError": "ECONNRESET"})
	incident := job.incident()
	incident.saysWhy(t, "Task_AnalyzeRetry", `header retryPolicy`, `"night-queue"`, "day-queue, fast, job-queue, rn-bil-005, smtp, smtp-dev, tiss")

	job.resolves(incident, nil)
	incident = job.incident() // for nothing has changed
	writePolicies(t, f.path, "day-queue", "night-queue")
	f.isReread("policies_reloaded", "night-queue")
	job.resolves(incident, nil)
	job.isDecidedBy("night-queue")
}

func TestSeed002BrokenPoliciesFileChangesNothingButIsSeen(t *testing.T) {
	const successful = "retry_policies_last_reload_successful "
	f := withPolicyFile(t, "night-queue")
	f.oneTask("NightQueue", "retryPolicy", "night-queue")
	f.decidesBy("NightQueue", "night-queue")
	f.worker.shows(successful + "1")

	for _, broken := range []string{"policies: [{name: night-queue, base: soon}]", "no: policies", ""} {
		f.must(os.WriteFile(f.path, []byte(broken), 0o600))
		f.isReread("policies_reload_failed", f.path, "the policies in force stay")
		f.worker.shows(successful + "0")
	}
	f.decidesBy("NightQueue", "night-queue")

	writePolicies(t, f.path, "night-queue", "later-queue")
	f.isReread("policies_reloaded", "later-queue")
	f.worker.shows(successful + "1")
	f.decidesBy("NightQueue", "night-queue")
}

// What a task changes by its headers, and a job by retryUntil and retryAfter.
func TestSeed002TaskOverridesItsPolicyAndJobBringsHints(t *testing.T) {
	o := atTheOffice(t)
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	for i, c := range []struct {
		name          string
		headers       []string
		job           vars
		how           string
		want, decides vars
	}{
		{
			"maxRetries",
			[]string{"maxRetries", "2"},
			vars{"retryCount": 2},
			"ERROR_THROWN",
			vars{"maxRetries": 2, "retryReason": "Transient error, all 2 retries used"},
			vars{"reason": "COUNT"},
		},
		{
			"base",
			[]string{"base", "20m"},
			vars{},
			"COMPLETED",
			vars{"maxRetries": 5},
			vars{"reason": "BACKOFF", "delayBeforeJitter": "PT20M", "overrides": vars{"base": "PT20M"}},
		},
		{
			"max",
			[]string{"max", "PT30M"},
			vars{"retryCount": 4},
			"COMPLETED",
			vars{},
			vars{"delayBeforeJitter": "PT30M", "overrides": vars{"max": "PT30M"}},
		},
		{
			"another policy, and all numbers of it",
			[]string{"retryPolicy", "fast", "base", "2s", "max", "3s", "maxRetries", "9"},
			vars{"retryCount": 1},
			"COMPLETED",
			vars{"maxRetries": 9, "backoffMinutes": 1},
			vars{"policy": "fast", "backoffDuration": "PT3S", "retriesLeft": 7},
		},
		{
			"a deadline that is too near",
			[]string{"deadline", "4m"},
			vars{},
			"ERROR_THROWN",
			vars{"shouldRetry": false, "nextRetryTime": nil},
			vars{"reason": "DEADLINE"},
		},
		{
			"a deadline that pulls forward",
			[]string{"deadline", "12m"},
			vars{"retryCount": 2},
			"COMPLETED",
			vars{"backoffMinutes": 12},
			vars{"backoffDuration": "PT12M", "bounds": []string{"DEADLINE"}},
		},
		{
			"retryUntil", nil, vars{"retryCount": 2, "retryUntil": in(14 * time.Minute)}, // else 16 to 24 minutes
			"COMPLETED", vars{"shouldRetry": true}, vars{"bounds": []string{"DEADLINE"}},
		},
		{
			"a retryUntil that is over", nil,
			vars{"retryUntil": in(-time.Hour)},
			"ERROR_THROWN",
			vars{"shouldRetry": false},
			vars{"reason": "DEADLINE"},
		},
		{
			"retryAfter", nil,
			vars{"retryAfter": 1800},
			"COMPLETED",
			vars{},
			vars{"reason": "HINT", "hint": vars{"source": "VARIABLE", "after": "PT30M"}},
		},
		{
			"a retryAfter in the text", nil,
			vars{"submissionError": "HTTP 503, Retry-After: 1200"},
			"COMPLETED",
			vars{},
			vars{"reason": "HINT", "hint": vars{"source": "TEXT", "after": "PT20M"}},
		},
	} {
		o.scene.part(c.name, func(s *scene) {
			process := "OneTask"
			if c.headers != nil {
				process = "WithHeaders"
				s.oneTask(process, c.headers...)
			}
			job := vars{"claimId": fmt.Sprint("CLM-SEED-002-", i), "submissionError": "TIMEOUT"}
			maps.Copy(job, c.job)
			answer := s.start(process, job).next("the answer", "JOB", c.how, at("Task_AnalyzeRetry"))
			got := readVars(s.T, s.answer(answer))
			got.hold(s.T, c.want)
			got.object(s.T, "retryDecision").hold(s.T, c.decides)
			if asked, hinted := map[string]float64{"retryAfter": 30, "a retryAfter in the text": 20}[c.name]; hinted {
				if minutes, _ := got["backoffMinutes"].(float64); minutes < asked || minutes > 1.2*asked {
					s.T.Errorf("it waits %v minutes, want %v and a fifth more at most", minutes, asked)
				}
			}
		})
	}
}

func TestSeed002WrongHeaderIsAnIncidentThatNamesIt(t *testing.T) {
	o := atTheOffice(t)
	o.oneTask("WrongHeaders", "retrypolicy", "fast", "maxRetries", "many", "base", "0s")
	incident := o.start("WrongHeaders", vars{"submissionError": "TIMEOUT"}).incident()
	incident.saysWhy(t, "Task_AnalyzeRetry", `header retrypolicy`, "named retryPolicy", `header maxRetries is "many"`, `header base is "0s"`, "claimId is missing")
}
