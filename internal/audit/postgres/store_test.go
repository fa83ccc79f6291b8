package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// In SQLite the ID is the place in the chain, and the facts of both stores are about that. The guard is the ID in what is
// hashed: without it the check passes.
func TestAnIDThatWasChangedIsFound(t *testing.T) {
	address, key := devpostgres.Database(t), audittest.Secret(t)
	s := open(t, address, key)
	audittest.Append(t, s, audittest.Records(1, 4)...)
	audittest.Append(t, s, audittest.Records(1, 4)...) // stored already, which leaves a gap
	audittest.Append(t, s, audittest.Records(4, 7)...)
	audittest.Verify(t, s, key, 6)
	mustSQL(t, address, "SET session_replication_role = replica", "UPDATE analyze_retry.records SET id = id + 1 WHERE seq = 3")
	_, err := audit.Verify(t.Context(), s, key.Public(), nil)
	if broken, ok := errors.AsType[*audit.BrokenError](err); !ok || broken.Seq != 3 {
		t.Errorf("verify: %v", err)
	}
}

// The guard is enable_seqscan=off and enable_bitmapscan=off: without them a reading begins with a sort of all.
func TestRecordsAreReadByIndexWithoutStatistics(t *testing.T) {
	address := devpostgres.Database(t)
	s := open(t, address, audittest.Secret(t))
	mustSQL(t, address, "ALTER TABLE analyze_retry.records SET (autovacuum_enabled = off)")
	check.Must(t, audittest.Fill(t.Context(), s, audittest.Records(0, 10_000)))
	check.Must(t, audittest.Fill(t.Context(), s, audittest.Ended(10_000, 11_000)))
	for query, index := range map[string]string{
		"SELECT * FROM records ORDER BY id":                                                    "records_pkey",
		"SELECT * FROM records WHERE at >= '2015-03-01' AND at < '2016-01-01' ORDER BY at, id": "records_at",
		"SELECT * FROM records WHERE job_key = ANY ('{1,2,3,4,5,6,7,8,9,10}'::bigint[])":       "records_job",
	} {
		if plan := postgres.Plan(t, s, query); !strings.Contains(plan, index) || strings.Contains(plan, "Sort") || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s:\n%s", query, plan)
		}
	}
	if plan := postgres.Plan(t, s, postgres.SelectUnpublished, 100); !strings.Contains(plan, "records_place") || strings.Contains(plan, "Seq Scan on records") {
		t.Errorf("what is to be published:\n%s", plan)
	}
	plan := postgres.Plan(t, s, postgres.SelectClaim, "CLM-2015-00000001", 17)
	if !strings.Contains(plan, "records_claim") || strings.Count(plan, "Index Scan using records_pkey") != 2 {
		t.Errorf("the records of a claim:\n%s", plan)
	}
}
