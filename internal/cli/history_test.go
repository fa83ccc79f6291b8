package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

// storeGolden are the command lines on the store of the week whose output is pinned.
var storeGolden = map[string][]string{
	"history":                {"history", accepted},
	"history_json":           {"history", accepted, "--json"},
	"history_waiting":        {"history", waiting},
	"history_overdue":        {"history", overdue},
	"history_permanent":      {"history", permanent},
	"history_exhausted":      {"history", exhausted},
	"history_exhausted_json": {"history", exhausted, "--json"},
	"history_hostile":        {"history", hostile},
	"pending":                {"pending"},
	"pending_json":           {"pending", "--json"},
	"pending_overdue":        {"pending", "--overdue", "--since", "24h"},
	"pending_none":           {"pending", "--since", "1m"},
	"kpi":                    {"kpi", "--since", "7d"},
	"kpi_json":               {"kpi", "--json"},
	"kpi_none":               {"kpi", "--since", "1m"},
	"kpi_none_json":          {"kpi", "--since", "1m", "--json"},
	"export":                 {"audit", "export", accepted},
	"events":                 {"events", "tail", "--all", "--claim", exhausted},
	"purge_dry_run":          {"audit", "purge", "--dry-run"},
	"purge_dry_run_json":     {"audit", "purge", "--dry-run", "--json"},
}

func TestOutputOnAStoreIsPinned(t *testing.T) { archived(t, week()).pinned(t, "store_", storeGolden) }

// checkScreen checks that a terminal of 80 columns shows the output and is not commanded by it. Lines of JSON may be wider.
func checkScreen(t *testing.T, output string) {
	t.Helper()
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Errorf("a line commands the terminal: %q", line)
		}
		if n := utf8.RuneCountInString(line); n > 80 && !strings.HasPrefix(strings.TrimSpace(line), `"`) && !strings.HasPrefix(line, "{") {
			t.Errorf("a line of %d columns does not fit a terminal: %s", n, line)
		}
	}
}

func TestUnknownClaimNamesPossibleReasons(t *testing.T) {
	a := archived(t, week())
	for _, command := range [][]string{{"history"}, {"history", "--json"}, {"audit", "export"}} {
		for claim, want := range map[string]string{
			"CLM-nobody-1": "nothing is known of claim CLM-nobody-1 in sqlite://STORE: no decision was asked for it, or its retention is over",
			"ENC-001":      "nothing is known of ENC-001 in sqlite://STORE: no decision was asked for it, or its retention is over; a claim's id is CLM-<any>-<digits>",
			"two words":    `nothing is known of claim "two words"; a claim is ` + retry.RuleClaimID + "; where a policy takes any ids, it is " + retry.RuleAnyID,
		} {
			code, stdout, stderr := a.run(t, append(command, claim)...)
			if code != 1 || stdout != "" || stderr != "worker: "+want+"\n" {
				t.Errorf("worker %v %s: exit code %d, output %q, complaint %q", command, claim, code, stdout, stderr)
			}
		}
	}
}

func TestAStoreThatIsNotThereIsNotMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	for _, args := range append(reading, []string{"audit", "purge"}) {
		with("RETRY_DATABASE_URL=sqlite://"+path).fails(t, 1, "worker: there is no audit store at RETRY_DATABASE_URL=sqlite://"+path, args...)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 0 {
		t.Errorf("made: %v, %v", files, err)
	}
}

func TestPurgeMakesNoKey(t *testing.T) {
	a := archived(t, week())
	remove(t, a.path+".key")
	a.fails(t, 1, "audit key", "audit", "purge")
	if _, err := os.Stat(a.path + ".key"); err == nil {
		t.Error("there is a new key")
	}
}

// TestHistoryOfRealDecisionsIsComplete holds the records of the other tests, which are made by hand, to what the worker
// really writes.
func TestHistoryOfRealDecisionsIsComplete(t *testing.T) {
	a := archived(t, nil)
	store := a.open(t)
	w := a.worker(store, contract.JobType, "tiss", policy.BuiltIns)
	w.now = today.Add(-time.Hour)
	jobs := func(variables ...string) (all []job.Job) {
		for _, v := range variables {
			all = append(all, job.Job{Key: int64(len(v)), ProcessInstanceKey: 7, ProcessID: "SUB_06", ElementID: "analyze", Retries: 3, Variables: v})
		}
		return all
	}
	const claim = `"claimId":"CLM-real-1"`
	handle(t, w.decide, jobs(
		`{`+claim+`,"submissionError":"TIMEOUT"}`,
		`{`+claim+`,"submissionError":"weird","retryCount":1}`,
		`{`+claim+`,"submissionError":"DUPLICATE_CLAIM","retryCount":2}`,
		`{`+claim+`,"submissionError":"TIMEOUT again","retryCount":5}`,
		`{`+claim+`,"submissionError":"TIMEOUT","retryCount":2.5}`,
	))
	w.now = today.Add(-time.Minute)
	handle(t, w.outcome, jobs(`{`+claim+`,"outcome":"RESUBMITTED"}`))
	closed(t, store)

	var got struct {
		Records []struct {
			Kind     string
			Message  string
			Attempts int
			Answer   map[string]any
			Steps    []struct {
				Step, Found string
				At          time.Time
			}
		}
	}
	a.decodes(t, 0, &got, "history", "CLM-real-1")
	var story []string
	for _, r := range got.Records {
		story = append(story, fmt.Sprintf("%s %d steps", r.Kind, len(r.Steps)))
		for i, s := range r.Steps {
			if s.Step != contract.StepNames()[i] || s.Found == "" || strings.Contains(s.Found, "%!") || s.At.Year() != 2026 {
				t.Errorf("%s: step %+v", r.Kind, s)
			}
		}
	}
	want := "[RETRY 6 steps RETRY 6 steps PERMANENT_ERROR 6 steps MAX_RETRIES_EXCEEDED 6 steps REJECTED 0 steps RESUBMITTED 0 steps]"
	if fmt.Sprint(story) != want {
		t.Errorf("got  %v\nwant %s", story, want)
	}
	if found := got.Records[0].Steps[3].Found; !strings.HasPrefix(found, "5 min") {
		t.Errorf("the back-off of the first: %s", found)
	}
	checkScreen(t, a.must(t, "history", "CLM-real-1"))
	a.must(t, "kpi")
	a.must(t, "audit", "verify")
}

func handle(t *testing.T, h job.Handler, jobs []job.Job) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if answers := h.Handle(ctx, jobs); len(answers) != len(jobs) {
		t.Fatalf("%d answers to %d jobs", len(answers), len(jobs))
	}
}

// nobody observes nothing.
type nobody struct{}

func (nobody) Decided(retry.Decision, time.Duration) {}
func (nobody) Rejected(time.Duration)                {}
func (nobody) Repeated()                             {}
func (nobody) JobKeyReused()                         {}
func (nobody) OutcomeRecorded(*audit.Record)         {}

func TestDocumentationShowsARealHistory(t *testing.T) {
	document := read(t, "../../docs/audit.md")
	story := archived(t, week()).must(t, "history", waiting)
	if !strings.Contains(document, "$ worker history "+waiting+"\n"+story+"```\n") {
		t.Errorf("docs/audit.md does not hold this:\n%s", story)
	}
}
