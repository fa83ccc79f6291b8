package postgres_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// In SQLite the ID is the place in the chain, and the facts of both stores are about that. The guard is the ID in what is
// hashed: without it the check passes.
func TestAnIDThatWasChangedIsFound(t *testing.T) {
	address, key := withTables(t), audittest.Secret(t)
	s := open(t, address, key)
	audittest.Append(t, s, audittest.Records(1, 4)...)
	audittest.Append(t, s, audittest.Records(1, 4)...) // stored already, which leaves a gap
	audittest.Append(t, s, audittest.Records(4, 7)...)
	audittest.Verify(t, s, key, 6)
	mustSQL(t, address, "SET session_replication_role = replica", "UPDATE analyze_retry.records SET id = id + 1 WHERE seq = 3")
	_, err := audit.Verify(t.Context(), s, key.Public(), nil, nil)
	if broken, ok := errors.AsType[*audit.BrokenError](err); !ok || broken.Seq != 3 {
		t.Errorf("verify: %v", err)
	}
}

// The guard is enable_seqscan=off and enable_bitmapscan=off: without them each page is a sort of all that is left.
func TestPagesAreReadByIndexWithoutStatistics(t *testing.T) {
	address := withTables(t)
	s := open(t, address, audittest.Secret(t))
	mustSQL(t, address, "ALTER TABLE analyze_retry.records SET (autovacuum_enabled = off)")
	check.Must(t, audittest.Fill(t.Context(), s, 0, 10_000))
	for query, index := range map[string]string{
		"SELECT * FROM records WHERE chain = 1 AND seq > 100 ORDER BY seq LIMIT 5000":                               "records_place",
		"SELECT * FROM records WHERE (at, id) > ('2015-03-01', 0) AND at < '2016-01-01' ORDER BY at, id LIMIT 5000": "records_at",
		"SELECT * FROM records WHERE job_key = ANY ('{1,2,3,4,5,6,7,8,9,10}'::bigint[])":                            "records_key",
		"SELECT * FROM records WHERE claim_id = 'CLM-2015-00000001' ORDER BY id":                                    "records_claim",
		"SELECT * FROM outbox JOIN records USING (id) WHERE outbox.id > 100 ORDER BY outbox.id LIMIT 100":           "records_pkey",
	} {
		if plan := postgres.Plan(t, s, query); !strings.Contains(plan, index) || strings.Contains(plan, "Sort") || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s:\n%s", query, plan)
		}
	}
}

// The guards are the index of a claim's outcomes, the limits of what is read, and that a first failure is asked for by
// itself. What is read without them grows with the history.
func TestQuestionsReadLittleOfALongHistory(t *testing.T) {
	const claim, records = "CLM-2015-HOT", 12_000
	for _, history := range audittest.Histories {
		t.Run(history.Name, func(t *testing.T) {
			address := withTables(t)
			s := open(t, address, audittest.Secret(t))
			check.Must(t, history.Append(t.Context(), s, claim, records))
			mustSQL(t, address, "ANALYZE analyze_retry.records") // one claim has all records, as far as PostgreSQL knows then
			few, round := 20, 10_000
			if history.NoFailure {
				few = round
			}
			for _, question := range []struct {
				name, query string
				most        int
				arguments   []any
			}{
				{"first failure", postgres.SelectFirstFailures, few, []any{[]string{claim}}},
				{"open claims", postgres.SelectOpenClaims, 20, []any{time.Time{}, "", 5000}},
				{"round", postgres.SelectRounds, round, []any{[]string{claim}}},
				{"round of another claim", postgres.SelectRounds, 20, []any{[]string{"CLM-2015-COLD"}}},
			} {
				var plan []struct{ Plan node }
				check.Must(t, json.Unmarshal(postgres.Analyze(t, s, question.query, question.arguments...), &plan))
				if n := plan[0].Plan.rows(); n > question.most {
					t.Errorf("%s: %d rows were read, want at most %d", question.name, n, question.most)
				}
			}
		})
	}
}

// node is a step of a query's plan.
type node struct {
	Type    string  `json:"Node Type"`
	Rows    float64 `json:"Actual Rows"`
	Removed float64 `json:"Rows Removed by Filter"`
	Checked float64 `json:"Rows Removed by Index Recheck"`
	Loops   float64 `json:"Actual Loops"`
	Plans   []node
}

// rows is how many rows are read from tables and indexes.
func (n node) rows() int {
	sum := 0
	if n.Type == "Seq Scan" || n.Type == "Index Scan" || n.Type == "Index Only Scan" || n.Type == "Bitmap Heap Scan" {
		sum = int((n.Rows + n.Removed + n.Checked) * n.Loops)
	}
	for _, below := range n.Plans {
		sum += below.rows()
	}
	return sum
}
