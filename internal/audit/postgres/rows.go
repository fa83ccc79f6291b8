package postgres

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"hospital.example/analyze-retry/internal/audit"
)

// columns are those of a record, in the order of [each].
const columns = `id, chain, seq, kind, at, cluster, job_key, process_instance_key, input_hash, claim_id, retry_count,
	next_retry, message, variables, detail, hash`

// each calls visit with each record of an answer that has the columns, and scans the columns behind them into more. The record is
// valid during the call only. It stops at visit's error.
func each(rows pgx.Rows, visit func(*audit.Record) error, more ...any) error {
	defer rows.Close()
	var r audit.Record
	var kind int16
	var next pgtype.Timestamptz
	var inputs, hash pgtype.DriverBytes
	fields := []any{
		&r.ID, &r.Chain, &r.Seq, &kind, &r.At, &r.Cluster, &r.JobKey, &r.ProcessInstanceKey, &inputs, &r.ClaimID,
		&r.RetryCount, &next, &r.Message, &r.Variables, &r.Detail, &hash,
	}
	fields = append(fields, more...)
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return err
		}
		r.Kind = audit.Kind(kind) //nolint:gosec // one of ours, or a record that was meddled with
		r.At = r.At.UTC()
		r.NextRetryTime = time.Time{}
		if next.Valid {
			r.NextRetryTime = next.Time.UTC()
		}
		r.Inputs, r.Hash = [16]byte{}, audit.Hash{}
		copy(r.Inputs[:], inputs)
		copy(r.Hash[:], hash)
		if err := visit(&r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// arguments are those of insertRecords: a column of values for each column of the table.
func arguments(chain int, records []*audit.Record) []any {
	n := len(records)
	ids, seqs, kinds, ats := make([]int64, n), make([]int64, n), make([]int16, n), make([]time.Time, n)
	clusters, jobs, instances := make([]string, n), make([]int64, n), make([]int64, n)
	inputs, claims, counts := make([][]byte, n), make([]string, n), make([]int32, n)
	nexts, messages, variables := make([]pgtype.Timestamptz, n), make([]string, n), make([]string, n)
	details, hashes := make([]string, n), make([][]byte, n)
	for i, r := range records {
		ids[i], seqs[i], kinds[i], ats[i] = r.ID, r.Seq, int16(r.Kind), r.At
		clusters[i], jobs[i], instances[i] = r.Cluster, r.JobKey, r.ProcessInstanceKey
		inputs[i], claims[i], counts[i] = r.Inputs[:], r.ClaimID, int32(r.RetryCount) //nolint:gosec // a count of tries
		nexts[i] = pgtype.Timestamptz{Time: r.NextRetryTime, Valid: !r.NextRetryTime.IsZero()}
		messages[i], variables[i], details[i], hashes[i] = r.Message, r.Variables, r.Detail, r.Hash[:]
	}
	return []any{chain, ids, seqs, kinds, ats, clusters, jobs, instances, inputs, claims, counts, nexts, messages, variables, details, hashes}
}

// clean replaces what PostgreSQL refuses in a text: NUL and what is no UTF-8. Records are cleaned before they get here;
// one that was not must not stop the store.
func clean(r *audit.Record) {
	for _, text := range []*string{&r.Cluster, &r.ClaimID, &r.Message, &r.Variables, &r.Detail} {
		if strings.IndexByte(*text, 0) >= 0 || !utf8.ValidString(*text) {
			*text = strings.ReplaceAll(strings.ToValidUTF8(*text, "\uFFFD"), "\x00", "\uFFFD")
		}
	}
}

// list returns all rows of a query.
func list[T any](ctx context.Context, pool *pgxpool.Pool, scan pgx.RowToFunc[T], query string, arguments ...any) ([]T, error) {
	rows, _ := pool.Query(ctx, query, arguments...) // CollectRows returns its error
	return pgx.CollectRows(rows, scan)
}

func scanHead(row pgx.CollectableRow) (h audit.Head, err error) {
	var hash []byte
	err = row.Scan(&h.Chain, &h.Seq, &hash, &h.At, &h.Signature)
	copy(h.Hash[:], hash)
	h.At = h.At.UTC()
	return h, err
}
