package postgres_test

import (
	"encoding/json"
	"testing"

	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// The guards are the index of a claim's outcomes, the limits of what is read, and that a first failure is asked for by
// itself. What is read without them grows with the history.
func TestQuestionsReadLittleOfALongHistory(t *testing.T) {
	const claim, records = "CLM-2015-HOT", 12_000
	for _, history := range audittest.Histories {
		t.Run(history.Name, func(t *testing.T) {
			s := open(t, devpostgres.Database(t), audittest.Secret(t))
			must(t, history.Append(t.Context(), s, claim, records))
			few, round := 20, 10_000
			if history.NoFailure {
				few = round
			}
			job := history.Record(claim, records)
			for _, question := range []struct {
				name, query string
				most        int
				arguments   []any
			}{
				{"first failure", postgres.SelectFirstFailures, few, []any{[]string{claim}}},
				{"round", postgres.SelectRounds, round, []any{[]string{claim}}},
				{"keys", postgres.FindKeys, 50, []any{[]int64{job.JobKey}, [][]byte{job.Inputs[:]}, []int64{job.ProcessInstanceKey}, []string{job.Cluster}}},
			} {
				var plan []struct{ Plan node }
				must(t, json.Unmarshal(postgres.Analyze(t, s, question.query, question.arguments...), &plan))
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
