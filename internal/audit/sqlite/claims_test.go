package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/audittest"
)

// onlyRedrives is the one history whose first failure is looked for in more than a few records: there is none.
const onlyRedrives = "re-drives only"

// histories are ways in which a claim gets very many records: what the nth of them is.
var histories = map[string]func(n int, r *audit.Record){
	"one round without end": func(int, *audit.Record) {},
	"very many rounds": func(n int, r *audit.Record) {
		if n%2 == 1 {
			r.Kind, r.RetryCount = audit.KindAbandoned, 1
		}
	},
	"outcomes only":                func(_ int, r *audit.Record) { r.Kind, r.RetryCount = audit.KindSubmitted, 0 },
	"one job, corrected each time": func(_ int, r *audit.Record) { r.JobKey, r.ProcessInstanceKey = 1, 2 },
	onlyRedrives:                   func(_ int, r *audit.Record) { r.Kind = audit.KindRedriven },
}

// The guards are the index of a claim's outcomes, the limits of what is read, and that a first failure is asked for by
// itself. What is read without them grows with the history; so much is a fifth of it.
func TestAQuestionAboutAClaimReadsLittleOfALongHistory(t *testing.T) {
	const claim, records = "CLM-2015-HOT", 20_000
	for name, history := range histories {
		t.Run(name, func(t *testing.T) {
			path, secret := newFile(t).path, newSecret(t)
			s := openFile(t, path, secret)
			appendHistory(t, s, claim, records, history)
			must(t, s.Close())
			s = openFile(t, path, secret) // with nothing in its memory
			few, round := int64(20), int64(600)
			if name == onlyRedrives {
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
					r := audittest.Record(records + 1)
					history(records+1, &r)
					r.ClaimID = claim
					_, err := s.Append(t.Context(), []audit.Record{r}, nil)
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

// appendHistory appends so many records of one claim.
func appendHistory(t *testing.T, s audit.Log, claim string, records int, history func(int, *audit.Record)) {
	t.Helper()
	for from := 0; from < records; from += 200 {
		batch := audittest.Records(from, from+200)
		for i := range batch {
			history(from+i, &batch[i])
			batch[i].ClaimID = claim
		}
		_, err := s.Append(t.Context(), batch, nil)
		must(t, err)
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
