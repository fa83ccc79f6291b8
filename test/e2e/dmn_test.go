package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestDecisionTableClassifiesTheCorpusAsThePolicyDoes(t *testing.T) {
	s := atSharedBroker(t)
	s.must(s.broker.Deploy(t.Context(), "../../bpmn/classify-error.dmn"))
	documents := policy.BuiltIn("rn-bil-005")
	var unknown []string
	for _, text := range corpus(t) {
		if want := documents.Classify(text); want.RuleID != "unknown" {
			s.evaluates(text, vars{"errorClassification": string(want.Class), "ruleId": want.RuleID})
			continue
		}
		unknown = append(unknown, text)
	}
	// The table looks for words anywhere in a text, so one text of all these has no word only if none of them has.
	s.evaluates(strings.Join(unknown, "\n"), vars{"errorClassification": "UNKNOWN", "ruleId": "unknown"})

	// Where they differ, as docs/policies.md lists.
	for text, want := range map[string]string{
		"": "unknown", " \n": "unknown", // the worker refuses these
		"CLAßERVER_ERROR":                       "transient.SERVER_ERROR", // FEEL writes ß as SS
		strings.Repeat("á", 32<<10) + "TIMEOUT": "transient.TIMEOUT",      // the worker reads 64 KiB
	} {
		if got := documents.Classify(text).RuleID; got == want {
			t.Errorf("%.20q: both find %s", text, got)
		}
		s.evaluates(text, vars{"ruleId": want})
	}
}

// evaluates fails the test where the decision table on the broker has something else about an error text.
func (s *scene) evaluates(text string, want vars) {
	s.Helper()
	answer, err := s.broker.EvaluateDecision(s.Context(), &pb.EvaluateDecisionRequest{
		DecisionId: "classify-error", Variables: vars{"submissionError": text}.json(s.T),
	})
	s.must(err)
	got := readVars(s.T, answer.DecisionOutput)
	for name, value := range want {
		if got[name] != value {
			s.Errorf("%.300q: the table has %v, want %v", text, got, want)
		}
	}
}

// corpus returns the error texts of all policies' corpora, and some in letters that only look like those of a word.
func corpus(t *testing.T) (texts []string) {
	t.Helper()
	texts = []string{"ſerver_error", "NETWOR\u212a_ERROR", "tımeout", "TİMEOUT", "Time\u00adout", "ＴＩＭＥＯＵＴ", "a \\ \"quoted\" 503\u2028", "duplicate_claim\x00"}
	files, err := filepath.Glob("../../internal/retry/testdata/corpus_*.tsv")
	check.Must(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		check.Must(t, err)
		for line := range strings.Lines(string(content)) {
			if fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 5); len(fields) == 5 {
				texts = append(texts, strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t").Replace(fields[4]))
			}
		}
	}
	if len(texts) < 1000 {
		t.Fatalf("%d texts in %q", len(texts), files)
	}
	return texts
}
