//go:build !race

package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
)

// The guards are the index of a claim's outcomes, the limits of what is read, and that a first failure is asked for by
// itself. What is read without them grows with the history; so much is a fifth of it.
func TestAQuestionAboutAClaimReadsLittleOfALongHistory(t *testing.T) {
	const claim, records = "CLM-2015-HOT", 20_000
	for _, history := range audittest.Histories {
		t.Run(history.Name, func(t *testing.T) {
			path, secret := newFile(t).path, newSecret(t)
			s := openFile(t, path, secret)
			must(t, history.Append(t.Context(), s, claim, records))
			must(t, s.Close())
			s = openFile(t, path, secret) // with nothing in its memory
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
				{"append", 20, func() error {
					_, err := s.Append(t.Context(), []audit.Record{history.Record(claim, records)}, nil)
					return err
				}},
			} {
				if pages := pagesRead(t, question.ask); pages > question.most {
					t.Errorf("%s: %d pages were read, want at most %d", question.name, pages, question.most)
				}
			}
		})
	}
}

// The guard is that the index holds all that is counted. Seen to fail without: each of the records is read.
func TestSuccessIsCountedInItsIndex(t *testing.T) {
	s := openFile(t, newFile(t).path, newSecret(t))
	var plan string
	must(t, s.read.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN "+selectSuccess, 0).Scan(new(any), new(any), new(any), &plan))
	if want := "SEARCH records USING COVERING INDEX records_outcome (at>?)"; plan != want {
		t.Errorf("%s, want %s", plan, want)
	}
}

// pagesRead is how many pages of 8 KiB this process reads from files while it asks.
func pagesRead(t *testing.T, ask func() error) int64 {
	t.Helper()
	before := bytesRead(t)
	must(t, ask())
	return (bytesRead(t) - before) / 8192
}

func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	must(t, err)
	if _, err := fmt.Fscanf(bytes.NewReader(text), "rchar: %d\n", &n); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}
