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

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/testing/devbroker"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with the file of this name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); if it is meant, run go test ./cmd/sandbox/demo -update:\n%s", path, diff)
	}
}

// recorded is a run over the four claims of the recorded broker; one of them does not go as its file says.
func recorded(t *testing.T) Run {
	t.Helper()
	raw, err := os.ReadFile("history/testdata/records.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	ledger := history.NewLedger()
	for line := range bytes.Lines(raw) {
		var r devbroker.Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if err := ledger.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	run := Run{File: "claims.csv", Zeebe: "8.5.8", Simulated: ledger.Passed(), Elapsed: 12*time.Second + 345*time.Millisecond}
	shows := []string{
		"corrected by a team", "corrected by an operator", "left as an incident",
		"all retries used, abandoned by billing; and a story that is too long for the line of its heading",
	}
	for i, c := range ledger.Claims() {
		result := Result{History: *c, End: c.End}
		result.Claim = script.Claim{Line: 2 + i, ID: fmt.Sprintf("CLM-2026-00%d", i), Shows: shows[i], End: c.End}
		if c.At.Incident != nil {
			result.End = history.LeftAsIncident
			result.Claim.End = history.Submitted
			result.Faults = []string{"it ended INCIDENT, the file says SUBMITTED"}
		}
		run.Results = append(run.Results, result)
	}
	return run
}

func TestTheTableFillsTheTerminalAndNoMore(t *testing.T) {
	run := recorded(t)
	for columns, is := range map[int]int{20: MinWidth, 80: 80, 96: 96, 500: MaxWidth} {
		table := Table(run.Results, columns)
		for line := range strings.Lines(table) {
			if n := width(strings.TrimSuffix(line, "\n")); n > is {
				t.Errorf("%d columns on a terminal of %d: %s", n, columns, line)
			}
		}
		if columns == is {
			golden(t, fmt.Sprintf("table_%d.golden", columns), table)
		}
	}
}

func TestTheSummaryNamesDifferencesFromTheFile(t *testing.T) {
	run := recorded(t)
	golden(t, "failed.golden", run.Summary())
	run.Results[2].Faults = nil
	golden(t, "went.golden", run.Summary())
}

func TestTheDocumentSaysTheSameToMachines(t *testing.T) {
	run := recorded(t)
	text, err := json.MarshalIndent(run.Document(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "document.golden", string(text)+"\n")
}

func TestAClaimThatDidNotEndIsShownAsSuch(t *testing.T) {
	table := Table([]Result{{
		Claim:   script.Claim{ID: "CLM-1-1"},
		History: history.Claim{Tries: []history.Try{{Error: "x", Notified: []string{"billing"}, Decision: &history.Decision{Outcome: "Y"}}}},
		Faults:  []string{"it did not end"},
	}}, 80)
	for _, text := range []string{"✗ NOT ENDED", "billing was notified", "✗ it did not end"} {
		if !strings.Contains(table, text) {
			t.Errorf("the table lacks %q:\n%s", text, table)
		}
	}
}

func TestATextOfAnInsurerCannotPlayWithTheTerminal(t *testing.T) {
	if got := plain("a\x1b[2Jb\r\n\u202e\tc"); got != "a [2Jb c" {
		t.Errorf("%q", got)
	}
}

func TestAnExcerptShowsTheCodeThatDecided(t *testing.T) {
	for _, c := range []struct {
		text, code string
		columns    int
		want       string
	}{
		{"TIMEOUT: short", "TIMEOUT", 20, "TIMEOUT: short"},
		{"TIMEOUT: no answer in 30 s", "TIMEOUT", 12, "TIMEOUT: no…"},
		{"the server said: timeout, in 30 s", "TIMEOUT", 20, "…timeout, in 30 s"},
		{"the server said: timeout, in 30 seconds and more", "TIMEOUT", 20, "…timeout, in 30 sec…"},
		{"abcd TIMEOUT of the server", "TIMEOUT", 12, "…TIMEOUT of…"},
		{"abc TIMEOUT of the server", "TIMEOUT", 12, "abc TIMEOUT…"},
		{"nothing that was ever classified", "", 12, "nothing tha…"},
		{"não há código nenhum neste texto", "TIMEOUT", 12, "não há códi…"},
	} {
		got := excerpt(c.text, c.code, c.columns)
		if got != c.want || width(got) > c.columns {
			t.Errorf("excerpt(%q, %q, %d) = %q, want %q", c.text, c.code, c.columns, got, c.want)
		}
	}
}

func TestWrapBreaksAtBlanksAndLosesNothing(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{""}},
		{"one two", []string{"one two"}},
		{"one two three", []string{"one two", "three"}},
		{"ação é já", []string{"ação é", "já"}},
		{"a verylongword b", []string{"a", "verylon", "gword b"}},
	} {
		if diff := cmp.Diff(c.want, wrap(c.text, 7)); diff != "" {
			t.Errorf("wrap(%q) (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestHoursAreWordedForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 min", 59*time.Minute + 59*time.Second: "59 min", 5*time.Hour + 3*time.Minute: "5 h 03 min",
	} {
		if got := Long(d); got != want {
			t.Errorf("Long(%v) = %q, want %q", d, got, want)
		}
	}
}
