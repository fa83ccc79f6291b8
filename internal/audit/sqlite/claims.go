package sqlite

import (
	"context"

	"hospital.example/analyze-retry/internal/audit"
)

// selectOpenClaims returns the open claims, each with the last record that shows its state. A refused decision (7) that comes after
// the end of its claim opens none.
const selectOpenClaims = "SELECT " + columns + `, opened FROM (SELECT claim_id AS open, opened FROM open_claims) CROSS JOIN records
	ON seq = (SELECT seq FROM records WHERE claim_id = open AND kind NOT IN (5, 7) ORDER BY seq DESC LIMIT 1) AND kind NOT IN (16, 18) ORDER BY opened, open`

func (s *store) OpenClaims(ctx context.Context, visit func(*audit.OpenClaim) error) error {
	var c audit.OpenClaim
	return s.each(ctx, func(v *reader) error {
		c.Opened = utc(v.int(openedColumn))
		return v.record(&c.Record)
	}, func() error { return visit(&c) }, selectOpenClaims)
}

var (
	openClaims = repeated("INSERT INTO open_claims (claim_id, opened) VALUES ", "(?,?)", " ON CONFLICT DO NOTHING")
	endClaim   = "DELETE FROM open_claims WHERE claim_id = ?"
)

// noteClaims opens and ends the claims of the records that are new. No trigger does it, because a trigger costs several times as
// much, and no other version of the worker writes to the file.
func (b *batch) noteClaims(ctx context.Context, w *writer) error {
	args := w.args[:0]
	open := func() (err error) {
		for rest := args; len(rest) > 0 && err == nil; {
			n := chunk(len(rest) / 2)
			err = w.exec(ctx, openClaims[n], rest[:2*n]...)
			rest = rest[2*n:]
		}
		args = args[:0]
		return err
	}
	for _, i := range b.fresh {
		switch r := &b.results[i].Record; {
		case r.Kind == audit.KindUndelivered || r.ClaimID == "":
		case r.Kind == audit.KindSubmitted || r.Kind == audit.KindAbandoned:
			if err := open(); err != nil { // what came before it in the batch
				return err
			}
			if err := w.exec(ctx, endClaim, r.ClaimID); err != nil {
				return err
			}
		default:
			args = append(args, r.ClaimID, r.At.UnixMicro())
		}
	}
	return open()
}

// forgetClaims takes those claims from the open ones whose records were removed, and lets the others begin with the first record
// that is left. newest is when the last of the removed records was decided.
func (w *writer) forgetClaims(ctx context.Context, newest int64) error {
	err := w.exec(ctx, `UPDATE open_claims SET opened = coalesce((
			SELECT at FROM records AS r WHERE r.claim_id = open_claims.claim_id AND kind NOT IN (5, 16, 18) AND seq > coalesce(
				(SELECT max(seq) FROM records AS e WHERE e.claim_id = open_claims.claim_id AND kind IN (16, 18)), 0)
			ORDER BY seq LIMIT 1), 0) WHERE opened <= ?`, newest)
	if err != nil {
		return err
	}
	return w.exec(ctx, "DELETE FROM open_claims WHERE opened = 0")
}

// claimsDiffer compares the open claims with the records, from which they can be made anew.
const claimsDiffer = `WITH made AS (
		SELECT claim_id, at FROM (
			SELECT claim_id, at, min(seq) FROM records LEFT JOIN (
				SELECT claim_id AS ended, max(seq) AS last FROM records WHERE kind IN (16, 18) GROUP BY claim_id
			) ON ended = claim_id WHERE claim_id <> '' AND kind NOT IN (5, 16, 18) AND seq > coalesce(last, 0) GROUP BY claim_id
		)
	) SELECT CASE WHEN EXISTS (SELECT claim_id, opened FROM open_claims EXCEPT SELECT * FROM made)
		OR EXISTS (SELECT * FROM made EXCEPT SELECT claim_id, opened FROM open_claims) THEN 'an open claim' ELSE 'ok' END`
