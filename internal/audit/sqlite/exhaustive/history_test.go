package exhaustive

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// The guards are the index of a claim's outcomes, the limits of what is read, and that a first failure is asked for by
// itself. What is read without them grows with the history; so much is a fifth of it.
func TestQuestionsReadLittleOfALongHistory(t *testing.T) {
	const claim, records = "CLM-2015-HOT", 20_000
	for _, history := range audittest.Histories {
		t.Run(history.Name, func(t *testing.T) {
			path, secret := filepath.Join(audittest.MemoryDir(t), "audit.db"), audittest.Secret(t)
			s := open(t, path, secret)
			check.Must(t, history.Append(t.Context(), s, claim, records))
			check.Must(t, s.Close())
			s = open(t, path, secret) // with nothing in its memory
			few, round := int64(20), int64(600)
			if history.NoFailure {
				few = round
			}
			for _, question := range []struct {
				name string
				most int64
				ask  func() error
			}{
				{"first failure", few, func() error { _, err := s.FirstFailures(t.Context(), []string{claim}); return err }},
				{"round", round, func() error { _, err := s.Rounds(t.Context(), []string{claim}); return err }},
				{"round of another claim", 40, func() error { _, err := s.Rounds(t.Context(), []string{"CLM-2015-COLD"}); return err }},
			} {
				if pages := pagesRead(t, question.ask); pages > question.most {
					t.Errorf("%s: %d pages were read, want at most %d", question.name, pages, question.most)
				}
			}
		})
	}
}

// pagesRead is how many pages of 8 KiB this process reads from files while it asks.
func pagesRead(t *testing.T, ask func() error) int64 {
	t.Helper()
	before := bytesRead(t)
	check.Must(t, ask())
	return (bytesRead(t) - before) / 8192
}

func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	check.Must(t, err)
	if _, err := fmt.Fscanf(bytes.NewReader(text), "rchar: %d\n", &n); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}
