package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/term"
)

// Pending is a retry after which nothing was heard of the claim. Its JSON form is stable.
type Pending struct {
	ClaimID string    `json:"claimId"`
	Due     time.Time `json:"nextRetryTime"`
	// OverdueSeconds is 0 while the claim waits.
	OverdueSeconds int64     `json:"overdueSeconds"`
	Since          time.Time `json:"scheduledAt"`
	RetryCount     int       `json:"retryCount"`
	MaxRetries     int       `json:"maxRetries"`
	Classification string    `json:"errorClassification"`
	MatchedCode    string    `json:"matchedCode,omitempty"`
	// The key is a text for the sake of JavaScript, as in the events.
	ProcessInstanceKey string `json:"processInstanceKey"`
}

// PendingOf returns the retries of the records.
func PendingOf(records []audit.Record, now time.Time) ([]Pending, error) {
	all := make([]Pending, len(records)) // in JSON a list, even where it is empty
	for i := range records {
		r := &records[i]
		facts, err := r.Facts()
		if err != nil {
			return nil, err
		}
		all[i] = Pending{
			ClaimID: r.ClaimID, Due: r.NextRetryTime, Since: r.At,
			OverdueSeconds: max(int64(now.Sub(r.NextRetryTime)/time.Second), 0),
			RetryCount:     facts.RetryCount, MaxRetries: facts.MaxRetries,
			Classification: string(facts.ErrorClassification), MatchedCode: facts.RetryDecision.MatchedCode,
			ProcessInstanceKey: strconv.FormatInt(r.ProcessInstanceKey, 10),
		}
	}
	return all, nil
}

// PendingText lists the retries that were decided since a time ago.
func PendingText(all []Pending, now time.Time, since time.Duration, onlyOverdue bool) string {
	var b strings.Builder
	overdue := 0
	rows := [][]string{{"DUE", "WHEN", "RETRY", "SINCE", "CLAIM"}}
	for _, p := range all {
		when := "in " + term.About(p.Due.Sub(now))
		if !p.Due.After(now) {
			overdue++
			when = "overdue " + term.About(now.Sub(p.Due))
		}
		rows = append(rows, []string{term.Minute(p.Due), when, fmt.Sprintf("%d of %d", p.RetryCount, p.MaxRetries), term.Minute(p.Since), term.Line(p.ClaimID)})
	}
	if len(all) > 0 {
		b.WriteString(term.Table("", rows) + "\n")
	}
	if !onlyOverdue {
		fmt.Fprintf(&b, "%d waiting, ", len(all)-overdue)
	}
	fmt.Fprintf(&b, "%d overdue, of the decisions of the last %s.\n", overdue, term.Span(since))
	return b.String()
}
