package audittest

import (
	"context"

	"hospital.example/analyze-retry/internal/audit"
)

// LongHistory is a way in which a claim gets very many records.
type LongHistory struct {
	// Name says how. NoFailure reports that the claim never failed.
	Name      string
	NoFailure bool
	change    func(n int, r *audit.Record)
}

// Histories are the ways in which a claim can get very many records.
var Histories = []LongHistory{
	{Name: "one round without end", change: func(int, *audit.Record) {}},
	{Name: "very many rounds", change: func(n int, r *audit.Record) {
		if n%2 == 1 {
			r.Kind, r.RetryCount = audit.KindAbandoned, 1
		}
	}},
	{Name: "outcomes only", change: func(_ int, r *audit.Record) { r.Kind, r.RetryCount = audit.KindSubmitted, 0 }},
	{Name: "one job, corrected each time", change: func(_ int, r *audit.Record) { r.JobKey, r.ProcessInstanceKey = 1, 2 }},
	{Name: "re-drives only", NoFailure: true, change: func(_ int, r *audit.Record) { r.Kind = audit.KindRedriven }},
}

// Record makes the nth record of the claim.
func (h LongHistory) Record(claim string, n int) audit.Record {
	r := Record(n)
	r.ClaimID = claim
	h.change(n, &r)
	return r
}

// Append appends so many records of the claim.
func (h LongHistory) Append(ctx context.Context, store audit.Log, claim string, records int) error {
	const batch = 1000
	for from := 0; from < records; from += batch {
		some := make([]audit.Record, batch)
		for i := range some {
			some[i] = h.Record(claim, from+i)
		}
		if _, err := store.Append(ctx, some, nil); err != nil {
			return err
		}
	}
	return nil
}
