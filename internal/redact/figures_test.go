package redact_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/redacttest"
)

func TestTheFinderSeesEveryCanaryBeforeItIsRedacted(t *testing.T) {
	t.Parallel()
	blind := 0
	for _, c := range redacttest.Take(2, 5_000) {
		found := redacttest.NewFinder(c).Find([]byte(c.Text))
		if len(found) < len(c.Secrets) {
			if blind++; blind <= 10 {
				t.Errorf("%q:\n finds %v of %v", c.Text, found, c.Secrets)
			}
		}
	}
	if blind > 0 {
		t.Errorf("%d texts", blind)
	}
}

// The corpus holds error texts as people who know hospital systems wrote them, each with what must not
// survive.
func TestNothingOfTheCorpusLeaks(t *testing.T) {
	t.Parallel()
	corpus, err := os.ReadFile("testdata/redaction.jsonl")
	check.Must(t, err)
	n := 0
	for line := range bytes.Lines(corpus) {
		var c struct {
			ID    int
			Text  string
			Leaks []string
		}
		check.Must(t, json.Unmarshal(line, &c))
		if n++; c.ID != n || len(c.Leaks) == 0 {
			t.Errorf("line %d has the id %d and %d leaks", n, c.ID, len(c.Leaks))
		}
		redacted := redact.Text(c.Text)
		for _, leak := range c.Leaks {
			if !strings.Contains(c.Text, leak) && !strings.Contains(errtext.Normalise(c.Text), leak) {
				t.Errorf("%d: %q is not in %q", c.ID, leak, c.Text)
			}
			if strings.Contains(redacted, leak) {
				t.Errorf("%d: %q\n becomes %q,\n   which has %q", c.ID, c.Text, redacted, leak)
			}
		}
		sound(t, c.Text)
	}
	if n < 316 {
		t.Errorf("the corpus has %d texts", n)
	}
}

// A text must stay readable. What these texts lose are codes of programs, and names in them.
func TestNineteenInTwentyWordsOfTheClassifierCorporaSurvive(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../retry/testdata/corpus_*.tsv")
	check.Must(t, err)
	words, survive := 0, 0
	lost := map[string]int{}
	for _, path := range files {
		for _, text := range corpusTexts(t, path) {
			left := map[string]int{}
			for _, word := range lettersOf(redact.Text(text)) {
				left[word]++
			}
			for _, word := range lettersOf(text) {
				words++
				if left[word]--; left[word] >= 0 {
					survive++
				} else {
					lost[word]++
				}
			}
		}
	}
	share := float64(survive) / float64(words)
	t.Logf("%d of %d words of %d files survive: %.1f %%", survive, words, len(files), 100*share)
	if share < 0.95 || len(files) < 4 {
		t.Errorf("%.1f %% of the words of %d files survive; lost are %v", 100*share, len(files), lost)
	}
}

// corpusTexts returns the last columns of a corpus.
func corpusTexts(t *testing.T, path string) (texts []string) {
	t.Helper()
	file, err := os.Open(path)
	check.Must(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if columns := strings.Split(lines.Text(), "\t"); len(columns) == 5 {
			texts = append(texts, strings.ReplaceAll(columns[4], `\n`, "\n"))
		}
	}
	check.Must(t, lines.Err())
	return texts
}

func lettersOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}
