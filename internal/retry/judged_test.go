package retry_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

// judged are texts that were written without sight of the rules, each with what a person who knows TISS would
// decide: kind, classes that are right, team, the class by the reading of before, text. See docs/tiss.md.
type judged struct {
	line                      int
	kind, classes, team, text string
	before                    retry.Class
}

func readJudged(t *testing.T) (all []judged) {
	t.Helper()
	for i, row := range check.Rows(t, "testdata/judged.tsv", 5) {
		all = append(all, judged{i + 1, row[0], row[1], row[2], row[4], retry.Class(row[3])})
	}
	return all
}

func (j judged) isRight(c retry.Class) bool {
	return strings.Contains("|"+j.classes+"|", "|"+string(c)+"|")
}

// How many texts of each kind are right; docs/tiss.md has these figures.
func TestJudgedTextsAreClassifiedAsAPersonWould(t *testing.T) {
	page, err := os.ReadFile("../../docs/tiss.md")
	check.Must(t, err)
	p := policy.BuiltIn("tiss")
	texts, before, now, toOperations := map[string]int{}, map[string]int{}, map[string]int{}, 0
	for _, j := range readJudged(t) {
		texts[j.kind]++
		if j.isRight(j.before) {
			before[j.kind]++
		}
		c := p.Classify(j.text)
		if j.isRight(c.Class) {
			now[j.kind]++
		}
		if j.kind == "own" && c.Class == retry.Permanent && c.Team == "operations" {
			toOperations++
		}
	}
	percent := func(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of)) }
	for kind, n := range texts {
		check.Contains(t, string(page), fmt.Sprintf("| `%s` | %d | %s | %s |", kind, n, percent(before[kind], n), percent(now[kind], n)))
	}
	check.Contains(t, string(page), percent(toOperations, texts["own"])+" of the own faults name operations")
}

// A stopped claim waits for a person; what passes by itself must not be stopped. Nothing that the reading of
// before held is stopped.
func TestNoTextThatWasHeldIsStopped(t *testing.T) {
	p := policy.BuiltIn("tiss")
	for _, j := range readJudged(t) {
		if j.isRight(retry.Permanent) || j.before == retry.Permanent {
			continue
		}
		if c := p.Classify(j.text); c.Class == retry.Permanent {
			t.Errorf("judged.tsv:%d: stopped by %s, %s: %s", j.line, c.ID, c.Code, j.text)
		}
	}
}
