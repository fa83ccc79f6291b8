package demo

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/cluster"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with the file of this name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		check.Must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	check.Must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); if it is meant, run go test ./cmd/sandbox/demo -update:\n%s", path, diff)
	}
}

// recorded is a run over the four claims of the recorded broker; one of them does not go as its file says.
func recorded(t *testing.T) Run {
	t.Helper()
	raw, err := os.ReadFile("history/testdata/records.jsonl")
	check.Must(t, err)
	ledger := history.NewLedger(Bundled().Models)
	for line := range bytes.Lines(raw) {
		var r cluster.Record
		check.Must(t, json.Unmarshal(line, &r))
		check.Must(t, ledger.Add(r))
	}
	passed := ledger.Now().Sub(ledger.Claims()[0].Started)
	run := Run{File: "claims.csv", Process: "SUB_06", Simulated: history.Since(passed), Elapsed: history.Since(12 * time.Second)}
	shows := []string{
		"corrected by a team", "corrected by an operator", "left as an incident",
		"all retries used, abandoned by billing; and a story that is too long for the line of its heading",
	}
	for i, c := range ledger.Claims() {
		result := Result{History: *c, End: c.End, Faults: []string{}}
		result.Claim = script.Claim{Line: 2 + i, ID: fmt.Sprintf("CLM-2026-00%d", i), Shows: shows[i], End: c.End}
		if len(c.At.Incidents) > 0 {
			result.End = script.Incident
			result.Claim.End = script.Submitted
			result.Faults = []string{"it ended INCIDENT, the file says SUBMITTED"}
		}
		run.Results = append(run.Results, result)
	}
	return run
}

func TestTheTableFitsTheTerminal(t *testing.T) {
	table := Table(recorded(t).Results)
	for line := range strings.Lines(table) {
		if n := utf8.RuneCountInString(line) - 1; n > width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	golden(t, "table.golden", table)
}

func TestTheSummaryNamesDifferencesFromTheFile(t *testing.T) {
	run := recorded(t)
	golden(t, "failed.golden", run.Summary())
	run.Results[2].Faults = nil
	golden(t, "went.golden", run.Summary())
}

func TestMachinesGetTheSameAsJSON(t *testing.T) {
	text, err := json.MarshalIndent(recorded(t), "", "  ")
	check.Must(t, err)
	golden(t, "document.golden", string(text)+"\n")
}

func TestAClaimThatDidNotEndIsShownAsSuch(t *testing.T) {
	table := Table([]Result{{
		Claim:   script.Claim{ID: "CLM-1-1"},
		History: history.History{Tries: []history.Try{{Error: "x", Notified: []string{"billing"}, Decision: &history.Decision{Outcome: "Y"}}}},
		Faults:  []string{"it did not end"},
	}})
	for _, text := range []string{"✗ NOT ENDED", "billing was notified", "✗ it did not end"} {
		if !strings.Contains(table, text) {
			t.Errorf("the table lacks %q:\n%s", text, table)
		}
	}
}

func TestATextOfAnInsurerCannotPlayWithTheTerminal(t *testing.T) {
	if got := plain("a\x1b[2Jb\r\n\u202e\tc"); got != `a\x1b[2Jb\r \u202e c` {
		t.Errorf("%q", got)
	}
}

func TestAnExcerptShowsTheCodeThatDecided(t *testing.T) {
	for text, want := range map[string]string{
		"TIMEOUT: short": "TIMEOUT: short",
		"TIMEOUT: no answer in 30 s, and nothing else":                "TIMEOUT: no answer in 30 s, and...",
		"the server of the insurer said: timeout, in 30 s":            "...timeout, in 30 s",
		"the server of the insurer said: timeout in 30 s, all day":    "...timeout in 30 s, all day",
		"não há código nenhum neste texto, de nenhuma das operadoras": "não há código nenhum neste text...",
	} {
		if got := excerpt(text, "TIMEOUT"); got != want {
			t.Errorf("excerpt(%q) = %q, want %q", text, got, want)
		}
	}
}
