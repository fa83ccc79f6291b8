package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/cli"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// today is when the commands of these tests are given.
var today = moment("2026-01-12T10:00:00Z")

func moment(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}

// archive is a real store that a worker has left behind.
type archive struct {
	path     string
	settings []string
	secret   *audit.Secret
}

// archived stores the records.
func archived(t *testing.T, records []audit.Record) *archive {
	t.Helper()
	return archivedAt(t, filepath.Join(t.TempDir(), "store.db"), records)
}

func archivedAt(t *testing.T, path string, records []audit.Record) *archive {
	t.Helper()
	a := &archive{path: path}
	a.settings = []string{"RETRY_DATABASE_URL=sqlite://" + a.path}
	a.secret = audittest.Secret(t)
	check.Must(t, a.secret.Save(a.path+".key"))
	defer unforked()()
	store := a.open(t)
	a.add(t, store, records...)
	closed(t, store)
	return a
}

// unforked lets no process start until what it returns is called: one that another script starts while a store is open would
// have its lock for a moment after it is closed.
func unforked() (over func()) {
	syscall.ForkLock.RLock()
	return syscall.ForkLock.RUnlock
}

// open opens the store as a worker does. The caller closes it.
func (a *archive) open(t *testing.T) audit.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), a.path, audittest.Key(a.secret))
	check.Must(t, err)
	return store
}

// heads are those of the store when these records have been added.
func (a *archive) heads(t *testing.T, more ...audit.Record) []audit.Head {
	t.Helper()
	store := a.open(t)
	defer closed(t, store)
	a.add(t, store, more...)
	heads, _, err := store.Heads(t.Context())
	check.Must(t, err)
	return heads
}

func (a *archive) add(t *testing.T, store audit.Store, records ...audit.Record) {
	t.Helper()
	audittest.Append(t, store, records...)
}

// with is an environment with these settings and without a store.
func with(settings ...string) *archive { return &archive{settings: settings} }

// run runs a command line on the store, today.
func (a *archive) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	set(t, a.settings...)
	var out, complaints bytes.Buffer
	code = cli.Run(t.Context(), func() time.Time { return today }, args, &out, &complaints)
	stdout, stderr = out.String(), complaints.String()
	if a.secret != nil {
		hide := strings.NewReplacer(a.path, "STORE", a.secret.Public().ID(), "0123456789abcdef")
		stdout, stderr = hide.Replace(stdout), hide.Replace(stderr)
	}
	return code, stdout, stderr
}

// must runs a command line that has to succeed.
func (a *archive) must(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := a.run(t, args...)
	if code != 0 || stderr != "" {
		t.Fatalf("worker %s: exit code %d, complaint %s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// fails runs a command line that has to end with an exit code and a complaint, and to print nothing else.
func (a *archive) fails(t *testing.T, code int, complaint string, args ...string) {
	t.Helper()
	if got, stdout, stderr := a.run(t, args...); got != code || stdout != "" || !strings.Contains(stderr, complaint) {
		t.Errorf("worker %s: exit code %d, want %d; output %q, complaint %q, want %q", strings.Join(args, " "), got, code, stdout, stderr, complaint)
	}
}

// prints runs a command line that has to succeed, and to print all parts, on lines as long as it likes.
func (a *archive) prints(t *testing.T, args []string, parts ...string) {
	t.Helper()
	contains(t, strings.Join(args, " "), a.must(t, args...), parts...)
}

// contains checks that a text holds all parts, wherever its lines are broken.
func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(unwrapped(text), unwrapped(part)) {
			t.Errorf("%s: %q is not in\n%s", what, part, text)
		}
	}
}

// unwrapped is a text without its line breaks.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

// decodes runs a command line with --json that has to end with an exit code, and decodes what it prints.
func (a *archive) decodes(t *testing.T, code int, value any, args ...string) (stdout, stderr string) {
	t.Helper()
	got, stdout, stderr := a.run(t, append(args, "--json")...)
	if err := json.Unmarshal([]byte(stdout), value); err != nil || got != code {
		t.Fatalf("worker %s --json: exit code %d, want %d; %v: %s%s", strings.Join(args, " "), got, code, err, stdout, stderr)
	}
	return stdout, stderr
}

// decided is a decision as the worker records it.
type decided struct {
	kind                audit.Kind
	claim, at           string
	text, class, code   string
	used, before, waits int // retries, minutes, minutes
}

// steps are what settles decisions of a kind.
var steps = map[audit.Kind]retry.Step{
	audit.KindRetry:     retry.StepBackoff,
	audit.KindExhausted: retry.StepCount,
	audit.KindPermanent: retry.StepPermanent,
}

func (d decided) record() audit.Record {
	at := moment(d.at)
	count, next, reason, rule := d.used, "null", d.kind.String(), "unknown"
	if d.code != "" {
		rule = strings.ToLower(d.class) + "." + d.code
	}
	r := audit.Record{
		Kind:       d.kind,
		At:         at,
		ClaimID:    d.claim,
		MaxRetries: 5,
		Policy:     "tiss",
		Class:      retry.Class(d.class),
		Rule:       rule,
		Code:       d.code,
	}
	if d.kind == audit.KindRetry {
		count++
		r.NextRetryTime = at.Truncate(time.Second).Add(time.Duration(d.waits) * time.Minute)
		next = `"` + r.NextRetryTime.Format(time.RFC3339) + `"`
		reason = fmt.Sprintf("Transient error, retry %d of 5", count)
	} else {
		r.Message = fmt.Sprintf("claim %s: %s; resubmit or abandon the claim", d.claim, d.code)
	}
	r.RetryCount = count
	r.Variables = fmt.Sprintf(`{"shouldRetry":%t,"retryCount":%d,"maxRetries":5,"backoffMinutes":%d,"nextRetryTime":%s,"retryReason":%q,`+
		`"errorClassification":%q,"retryDecision":{"policy":"tiss","policyVersion":%q,"ruleId":%q,"matchedCode":%q,`+
		`"reason":%q,"delayBeforeJitter":"PT%dM","backoffDuration":"PT%dM","retriesLeft":%d,"secondsSinceLastSubmission":35}}`,
		d.kind == audit.KindRetry, count, d.waits, next, reason, d.class, policy.BuiltIn("tiss").Version(), rule, d.code, steps[d.kind], d.before, d.waits, 5-count)
	r.Detail = detailed(contract.Detail{
		ProcessID: "SubmissionRetryProcess", ElementID: "Task_AnalyzeRetry", SubmissionError: d.text, ExecutionTimeMs: 0.2,
		Steps: &contract.Steps{ErrorReceived: at.Add(-20 * time.Millisecond), AfterMicros: [6]int64{0, 20000, 20000, 20000, 20000, 21200}},
	})
	return r
}

// ended is the outcome of a round of a claim as the worker records it.
type ended struct {
	kind              audit.Kind
	claim, at         string
	attempts, retries int
	firstFailure      string // empty for none
}

func (e ended) record() audit.Record {
	d := contract.Detail{ProcessID: "SUB_06", ElementID: "Task_RecordOutcome", Attempts: e.attempts}
	r := audit.Record{Kind: e.kind, At: moment(e.at), ClaimID: e.claim, RetryCount: e.retries, Variables: "{}"}
	if e.firstFailure != "" {
		d.FirstFailureTime, r.Policy = moment(e.firstFailure), "tiss"
	}
	r.Detail = detailed(d)
	return r
}

func rejected(claim, at string) audit.Record {
	return audit.Record{
		Kind: audit.KindRejected, At: moment(at), ClaimID: claim, RetryCount: 1, Policy: "tiss",
		Message: "invalid input: retryCount is 2.5 but must be a whole number, 0 or more",
		Detail:  detailed(contract.Detail{ProcessID: "SubmissionRetryProcess", ElementID: "Task_AnalyzeRetry"}),
	}
}

func detailed(d contract.Detail) string {
	b, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// keyed gives each record a job, and each claim a process instance.
func keyed(records []audit.Record) []audit.Record {
	instances := map[string]int64{}
	for i := range records {
		r := &records[i]
		if instances[r.ClaimID] == 0 {
			instances[r.ClaimID] = 2251799813685000 + int64(len(instances))
		}
		r.Cluster, r.JobKey, r.ProcessInstanceKey = "zeebe", 2251799813690000+int64(i), instances[r.ClaimID]
		r.Inputs[0] = byte(i)
	}
	return records
}

const (
	accepted  = "CLM-ENC-001-7" // after a rejected input and two retries
	waiting   = "CLM-ENC-002-8"
	overdue   = "CLM-ENC-003-9"
	permanent = "CLM-ENC-004-1"
	exhausted = "CLM-ENC-005-2"
	smooth    = "CLM-ENC-006-3" // accepted at once
	hostile   = "CLM-ENC-007-4" // with an error text that is made for terminals
)

// week is what happened in the days before today.
func week() []audit.Record {
	const transient, unknown = "TRANSIENT", "UNKNOWN"
	all := []audit.Record{
		decided{audit.KindRetry, accepted, "2026-01-11T09:00:00.123456Z", "TIMEOUT ao conectar ao TISS, beneficiário [CPF]", transient, "TIMEOUT", 0, 5, 6}.record(),
		rejected(accepted, "2026-01-11T09:06:30Z"),
		decided{audit.KindRetry, accepted, "2026-01-11T09:08:00Z", "HTTP 503 Service Unavailable", transient, "503", 1, 10, 9}.record(),
		ended{audit.KindSubmitted, accepted, "2026-01-11T10:05:00Z", 3, 2, "2026-01-11T09:00:00.123456Z"}.record(),
		ended{audit.KindSubmitted, smooth, "2026-01-11T10:06:00Z", 1, 0, ""}.record(),
		decided{audit.KindPermanent, permanent, "2026-01-11T11:00:00Z", "INSURANCE_EXPIRED em 2025-12", "PERMANENT", "INSURANCE_EXPIRED", 0, 0, 0}.record(),
		ended{audit.KindAbandoned, permanent, "2026-01-11T15:00:00Z", 1, 0, "2026-01-11T11:00:00Z"}.record(),
		decided{audit.KindRetry, exhausted, "2026-01-11T16:00:00Z", "504", transient, "504", 4, 80, 88}.record(),
		decided{audit.KindExhausted, exhausted, "2026-01-11T17:28:05Z", "504", transient, "504", 5, 0, 0}.record(),
		ended{audit.KindResubmitted, exhausted, "2026-01-11T18:00:00Z", 2, 1, "2026-01-11T16:00:00Z"}.record(),
		rejected("", "2026-01-11T19:00:00Z"),
		decided{audit.KindRetry, hostile, "2026-01-11T20:00:00Z", "\x1b[2J\u202eerro\r\n" + strings.Repeat("<td>página</td> ", 40), unknown, "", 0, 5, 5}.record(),
		decided{audit.KindRetry, overdue, "2026-01-12T07:10:00Z", "erro desconhecido", unknown, "", 2, 20, 17}.record(),
		decided{audit.KindRetry, waiting, "2026-01-12T09:40:00.5Z", "RATE_LIMIT", transient, "RATE_LIMIT", 3, 40, 43}.record(),
	}
	return keyed(all)
}

// decade is what happened long ago, to a claim that may be open still, and the week.
func decade(open bool) []audit.Record {
	old := func(claim, at string) audit.Record { return ended{audit.KindSubmitted, claim, at, 1, 0, ""}.record() }
	all := append([]audit.Record{
		old("CLM-2020-1", "2020-11-28T10:00:00Z"), old("CLM-2020-2", "2020-12-01T10:00:00Z"), old("CLM-2020-3", "2020-12-31T23:59:59.999999Z"),
	}, week()...)
	if open {
		all[1] = rejected("CLM-2020-2", "2020-12-01T10:00:00Z")
	}
	return keyed(all)
}

// set makes the environment one without settings but those given, "NAME=value".
func set(t *testing.T, settings ...string) {
	t.Helper()
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "RETRY_") || strings.HasPrefix(name, "ZEEBE_") {
			t.Setenv(name, "")
		}
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		t.Setenv(name, "")
	}
	t.Setenv("RETRY_TZ", "UTC")
	for _, entry := range settings {
		name, value, _ := strings.Cut(entry, "=")
		t.Setenv(name, value)
	}
}

// These fail the test where they fail.

func write(t *testing.T, path, text string) {
	t.Helper()
	check.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	check.Must(t, err)
	return string(text)
}

func closed(t *testing.T, store io.Closer) {
	t.Helper()
	check.Must(t, store.Close())
}
