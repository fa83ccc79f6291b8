package cli_test

import (
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
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
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
	"history_pt":             {"history", accepted, "--lang", "pt-BR", "--tz", "America/Sao_Paulo"},
	"history_exhausted_pt":   {"history", exhausted, "--lang", "pt-BR", "--tz", "America/Sao_Paulo"},
	"claims":                 {"claims"},
	"claims_pt":              {"claims", "--lang", "pt-BR"},
	"claims_json":            {"claims", "--json"},
	"claims_csv":             {"claims", "--csv", "--state", "waiting,overdue,stopped,submitted,abandoned"},
	"claims_page":            {"claims", "--limit", "2", "--page", "2"},
	"claims_none":            {"claims", "--policy", "smtp"},
	"pending":                {"pending"},
	"kpi":                    {"kpi", "--since", "7d", "--tz", "UTC"},
	"kpi_pt":                 {"kpi", "--month", "2026-01", "--lang", "pt-BR", "--tz", "America/Sao_Paulo"},
	"kpi_json":               {"kpi", "--json"},
	"kpi_none":               {"kpi", "--since", "1m", "--tz", "UTC"},
	"kpi_none_json":          {"kpi", "--since", "1m", "--json"},
	"report":                 {"report", "--from", "2026-01-01", "--tz", "UTC"},
	"report_pt_html":         {"report", "--from", "2026-01-01", "--lang", "pt-BR", "--tz", "America/Sao_Paulo", "--format", "html"},
	"report_csv":             {"report", "--from", "2026-01-01", "--tz", "UTC", "--format", "csv"},
	"report_json":            {"report", "--from", "2026-01-01", "--tz", "UTC", "--json"},
	"export":                 {"audit", "export", accepted},
	"events":                 {"events", "tail", "--all", "--claim", exhausted},
	"purge_dry_run":          {"audit", "purge", "--dry-run"},
	"purge_dry_run_json":     {"audit", "purge", "--dry-run", "--json"},
}

func TestOutputOnAStoreIsPinned(t *testing.T) { archived(t, week()).pinned(t, "store_", storeGolden) }

// checkScreen checks that a terminal of 80 columns shows the output and is not commanded by it. Lines of JSON may be wider.
func checkScreen(t *testing.T, output string) {
	t.Helper()
	checkHarmless(t, output)
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > 80 && !strings.HasPrefix(strings.TrimSpace(line), `"`) && !strings.HasPrefix(line, "{") {
			t.Errorf("a line of %d columns does not fit a terminal: %s", n, line)
		}
	}
}

// checkHarmless checks that a terminal is not commanded by the output.
func checkHarmless(t *testing.T, output string) {
	t.Helper()
	for line := range strings.Lines(output) {
		if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Errorf("a line commands the terminal: %q", line)
		}
	}
}

func TestUnknownClaimNamesPossibleReasons(t *testing.T) {
	a := archived(t, week())
	for _, command := range [][]string{{"history"}, {"history", "--json"}, {"audit", "export"}} {
		for claim, want := range map[string]string{
			"CLM-nobody-1": "nothing is known of claim CLM-nobody-1 in sqlite://STORE: no decision was asked for it, or its retention is over",
			"ENC-001":      "nothing is known of ENC-001 in sqlite://STORE: no decision was asked for it, or its retention is over; a claim's id is CLM-<any>-<digits>",
			"two words":    `nothing is known of claim "two words"; a claim is ` + retry.RuleClaimID.String() + "; where a policy takes any ids, it is " + retry.RuleAnyID.String(),
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
	a := playedUnder(t, policy.BuiltIns(), "tiss", func(w *ward) {
		const claim = `{"claimId":"CLM-real-1",`
		w.now = today.Add(-time.Hour)
		for _, variables := range []string{
			`"submissionError":"TIMEOUT"}`,
			`"submissionError":"weird","retryCount":1}`,
			`"submissionError":"DUPLICATE_CLAIM","retryCount":2}`,
			`"submissionError":"TIMEOUT again","retryCount":5}`,
			`"submissionError":"TIMEOUT","retryCount":2.5}`,
		} {
			w.ask(t, w.decide, 7, claim+variables)
		}
		w.now = today.Add(-time.Minute)
		w.ask(t, w.outcome, 7, claim+`"outcome":"RESUBMITTED"}`)
	})
	var got struct {
		Records []struct {
			Kind  string
			Steps []struct {
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

// noObserver observes nothing.
type noObserver struct{}

func (noObserver) Decided(retry.Decision, time.Duration) {}
func (noObserver) Rejected(string, time.Duration)        {}
func (noObserver) Repeated()                             {}
func (noObserver) OutcomeRecorded(*audit.Record)         {}

func TestDocumentationShowsARealHistory(t *testing.T) {
	document := read(t, "../../docs/audit.md")
	story := archived(t, week()).must(t, "history", waiting)
	if !strings.Contains(document, "$ worker history "+waiting+"\n"+story+"```\n") {
		t.Errorf("docs/audit.md does not hold this:\n%s", story)
	}
}

func TestHistoryNamesSettlingStepAndBounds(t *testing.T) {
	known, err := policy.Parse("policies.yaml", []byte("policies:\n  - {name: bounded, extends: tiss, deadline: 72h}\n"))
	check.Must(t, err)
	a := archived(t, nil)
	store := a.open(t)
	defer closed(t, store)
	for n, test := range []struct {
		policy, variables, headers string
		want                       []string
	}{
		{"tiss", `"submissionError":"DUPLICATE_CLAIM"`, "", []string{
			"backoff computed 09:00:00.000 none decision taken",
			"stop: BPMN error PERMANENT_ERROR, settled by the class; check the protocol's status before sending again, for it may have arrived",
			"next try scheduled 09:00:00.000 none Message",
		}},
		{"tiss", `"submissionError":"503 Retry-After: 600","retryCount":5`, "", []string{
			"TRANSIENT: it contains 503 (rule transient.503)", "none, although the other side asked to come back after 10 min (Retry-After)",
			"stop: BPMN error MAX_RETRIES_EXCEEDED, settled by the count",
		}},
		{"tiss", `"submissionError":"RATE_LIMIT","retryAfter":"1,5","lastSubmissionTime":[2026]`, "", []string{
			"5 min, with jitter 6 min, bounded by the policy's min (ignored: lastSubmissionTime is neither a text nor a number, retryAfter can mean more than one thing)",
			"try again, retry 1 of 5, settled by the back-off", "for 2026-01-12T09:06:00Z",
		}},
		{"tiss", `"submissionError":"503","retryUntil":"2026-01-12T09:02:00Z"`, "", []string{
			"Now: no retry fits before the deadline 2026-01-12T09:02:00Z: the worker threw the error MAX_RETRIES_EXCEEDED; what the model does with it is not recorded",
			"stop: BPMN error MAX_RETRIES_EXCEEDED, no retry fits before the deadline 2026-01-12T09:02:00Z, settled by the deadline",
		}},
		{"bounded", `"submissionError":"503"`, "", []string{"for 2026-01-12T09:06:00Z; the deadline is 2026-01-15T09:00:00Z"}},
		{"tiss", `"submissionError":"503"`, `{"maxRetries":"2","base":"2m","max":"1h"}`, []string{
			"2 min before and after jitter, bounded by the policy's min (overridden for this job: maxRetries 2, base 2 min, max 60 min)",
		}},
		{"job-queue", `"submissionError":"boom","max_attempts":8,"retry_delay":1500,"retryCount":2`, "", []string{
			"TRANSIENT: no rule of the policy matches it", "6 s before and after jitter (overridden for this job: maxRetries 7, base 1.5 s)",
			"try again, retry 3 of 7, settled by the back-off", "for 2026-01-12T09:00:06Z",
		}},
	} {
		claim := fmt.Sprintf("CLM-1-%d", 5+n)
		w := a.worker(store, contract.JobType, test.policy, func() *policy.Set { return known })
		w.now, w.headers, w.key = today.Add(-time.Hour), test.headers, int64(n)
		w.ask(t, w.decide, 7, `{"claimId":"`+claim+`",`+test.variables+`}`)
		story := a.must(t, "history", claim)
		checkScreen(t, story)
		contains(t, test.variables, story, test.want...)
	}
}

func TestHistoryOfBackoffJobsHasTheWholeDecision(t *testing.T) {
	a := archived(t, nil)
	store := a.open(t)
	w := a.worker(store, contract.BackoffJobType, "tiss", policy.BuiltIns)
	w.now = today.Add(-time.Hour)
	w.ask(t, w.decide, 7, `{"claimId":"CLM-1-7","submissionError":"RATE_LIMIT","retryAfter":1200}`)
	closed(t, store)
	var got struct {
		Records []struct {
			Answer              map[string]any
			MaxRetries          int
			ErrorClassification string
			RetryDecision       contract.Explanation
		}
	}
	stdout, _ := a.decodes(t, 0, &got, "history", "CLM-1-7")
	r := got.Records[0]
	if _, there := r.Answer["retryDecision"]; there || r.Answer["retryReason"] != "Retry 1 of 5" || r.MaxRetries != 5 || r.ErrorClassification != "TRANSIENT" ||
		r.RetryDecision.Policy != "tiss" || r.RetryDecision.Reason != retry.StepHint || r.RetryDecision.Hint == nil || r.RetryDecision.Hint.After != "PT20M" || r.RetryDecision.BackoffDuration != "PT22M" {
		t.Error(stdout)
	}
	a.prints(t, []string{"history", "CLM-1-7"}, "TRANSIENT: it contains RATE_LIMIT (rule transient.RATE_LIMIT)", "0 of 5 retries used",
		"22 min: the other side asked to come back after 20 min (variable retryAfter), with jitter", "for 2026-01-12T09:22:00Z")
}

// demoClaim plays a claim of the demo under policy tiss, at the times of one run of it.
func demoClaim(t *testing.T) *archive {
	t.Helper()
	return playedUnder(t, policy.BuiltIns(), "tiss", func(w *ward) {
		for i, failure := range []struct{ at, text string }{
			{"2026-11-21T16:46:53.168Z", "TIMEOUT: a operadora não respondeu ao tissLoteGuias em 30 s"},
			{"2026-11-21T16:46:55.406Z", "TIMEOUT: a operadora não respondeu ao tissLoteGuias em 30 s"},
			{"2026-11-21T16:46:56.161Z", "CONNECTION_ERROR: conexão recusada por ws.operadora.example:443"},
			{"2026-11-21T16:46:57.819Z", "Falha no envio: resposta em HTML em vez de XML"},
			{"2026-11-21T16:46:59.225Z", "SERVER_ERROR: exceção não tratada no servidor da operadora"},
			{"2026-11-21T16:47:00.100Z", "INSURANCE_EXPIRED: glosa 1017"},
		} {
			w.now = moment(failure.at)
			w.ask(t, w.decide, 2251799813685549, fmt.Sprintf(`{"claimId":"CLM-2026-004215","submissionError":%q,"retryCount":%d}`, failure.text, i))
		}
		w.now = moment("2026-11-21T16:47:00.215Z")
		w.ask(t, w.outcome, 2251799813685541, `{"claimId":"CLM-2026-004215","outcome":"ABANDONED","justification":"Plano vencido; cobrar particular","decidedBy":"billing"}`)
	})
}

func TestPortuguesePagesShowRealOutput(t *testing.T) {
	a := archived(t, week())
	const history = "history " + waiting + " --lang pt-BR --tz America/Sao_Paulo"
	for _, shown := range []struct{ page, arguments string }{
		{"auditoria", history},
		{"faturamento", history},
		{"faturamento", "claims --lang pt-BR"},
		{"faturamento", "kpi --month 2026-01 --lang pt-BR --tz America/Sao_Paulo"},
	} {
		output := a.must(t, strings.Fields(shown.arguments)...)
		if want := "$ worker " + shown.arguments + "\n" + output + "```\n"; !strings.Contains(read(t, "../../docs/pt-BR/"+shown.page+".md"), want) {
			t.Errorf("docs/pt-BR/%s.md does not hold this:\n%s", shown.page, want)
		}
	}
}

func TestReadmeShowsARealHistory(t *testing.T) {
	readme := read(t, "../../docs/audit.md")
	_, shown, _ := strings.Cut(readme, "$ bin/worker history CLM-2026-004215\n")
	shown, _, found := strings.Cut(shown, "...\n$ ")
	rest := demoClaim(t).must(t, "history", "CLM-2026-004215")
	if parts := strings.Split(shown, "...\n"); !found || len(parts) != 3 {
		t.Fatalf("docs/audit.md shows %d parts of a history", len(parts))
	}
	for part := range strings.SplitSeq(shown, "...\n") {
		before, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("docs/audit.md shows what is not there, or not in this order:\n%s\nof\n%s", part, before)
		}
		rest = after
	}
}

func TestHistoryStatesOnlyWhatTheTrailKnows(t *testing.T) {
	const at, thrown = "2026-01-12T09:00:00Z", ": the worker threw the error %s; what the model does with it is not recorded"
	stopped := func(kind audit.Kind) audit.Record {
		return decided{kind, "", at, "TIMEOUT", "TRANSIENT", "TIMEOUT", 5, 0, 0}.record()
	}
	outcome := func(kind audit.Kind, operator string) audit.Record {
		r := ended{kind, "", at, 2, 1, ""}.record()
		r.Detail = detailed(contract.Detail{Attempts: 2, DecidedBy: operator})
		return r
	}
	tests := []struct {
		last      audit.Record
		now, seen string
	}{
		{stopped(audit.KindExhausted), "all retries are used up" + fmt.Sprintf(thrown, "MAX_RETRIES_EXCEEDED"), "stop: BPMN error"},
		{stopped(audit.KindPermanent), "a retry cannot help" + fmt.Sprintf(thrown, "PERMANENT_ERROR"), "stop: BPMN error"},
		{outcome(audit.KindSubmitted, ""), "accepted by the insurer, as the model recorded", "The outcome: accepted by the insurer, as the model recorded; after"},
		{outcome(audit.KindAbandoned, ""), "abandoned, as the model recorded", "The outcome: abandoned, as the model recorded; after"},
		{outcome(audit.KindAbandoned, "ana"), "abandoned by ana", "The outcome: abandoned by ana; after"},
		{outcome(audit.KindResubmitted, ""), "submitted again, as the model recorded", "The outcome: submitted again, as the model recorded; after"},
		{outcome(audit.KindResubmitted, "ana"), "submitted again by ana", "The outcome: submitted again by ana; after"},
		{outcome(audit.KindRedriven, ""), "sent again, and nothing was heard since (for 60 min)", "Sent again now, before its time, after"},
		{outcome(audit.KindRedriven, "ana"), "sent again by ana, and nothing was heard since (for 60 min)", "Sent again now by ana, before its time, after"},
		{rejected("", at), "the worker rejected the input, which raises an incident; nothing was heard since", "Incident: invalid input"},
	}
	var records []audit.Record
	for i, test := range tests {
		test.last.ClaimID = fmt.Sprintf("CLM-LAST-%d", i)
		records = append(records, test.last)
	}
	a := archived(t, keyed(records))
	for i, test := range tests {
		a.prints(t, []string{"history", fmt.Sprintf("CLM-LAST-%d", i)}, "Now: "+test.now+" Times: UTC", test.seen)
	}
}

// A person's answer that was no decision changes nothing: the history shows it, and how the claim stands by the record before.
func TestHistoryShowsARefusedDecision(t *testing.T) {
	stopped := decided{audit.KindPermanent, "", "2026-01-12T09:00:00Z", "TIMEOUT", "PERMANENT", "TIMEOUT", 0, 0, 0}.record()
	refused := ended{audit.KindDecisionRefused, "", "2026-01-12T09:30:00Z", 1, 0, ""}.record()
	refused.Detail = detailed(contract.Detail{Attempts: 1, DecidedBy: "ana", DecisionProblem: "A decisão “Reenviar” não existe."})
	stopped.ClaimID, refused.ClaimID = "CLM-REFUSED-1", "CLM-REFUSED-1"
	a := archived(t, keyed([]audit.Record{stopped, refused}))
	a.prints(t, []string{"history", "CLM-REFUSED-1"}, "Now: a retry cannot help: the worker threw the error PERMANENT_ERROR",
		"DECISION_REFUSED The answer by ana was no decision, so the task came back: A decisão “Reenviar” não existe.")
	a.prints(t, []string{"history", "CLM-REFUSED-1", "--lang", "pt-BR"},
		"DECISÃO RECUSADA (DECISION_REFUSED) A resposta por ana não era uma decisão, e a tarefa voltou: A decisão “Reenviar” não existe.")
	a.prints(t, []string{"history", "CLM-REFUSED-1", "--json"}, `"status": "permanent"`, `"decisionProblem": "A decisão “Reenviar” não existe."`)
}
