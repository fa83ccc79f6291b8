package postgres

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
)

// maxFound is how many records are read to find what is stored of the jobs of a batch. No job has more than a few in an
// orderly life.
const maxFound = 1000

var findJobs = "SELECT " + columns + " FROM records WHERE job_key = ANY ($1::bigint[]) LIMIT " + strconv.Itoa(maxFound)

// findKeys finds for each record the one of its key and some others of its job. Any other shows that a job key is another
// process instance's, when its first record comes.
const findKeys = `SELECT found.* FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::text[]) AS asked (job, inputs, instance, of)
	CROSS JOIN LATERAL (
		SELECT ` + columns + ` FROM records
			WHERE job_key = job AND input_hash = inputs AND process_instance_key = instance AND cluster = of
		UNION ALL (SELECT ` + columns + ` FROM records WHERE job_key = job LIMIT 10)
	) AS found`

// findOneByOne is one round trip more, for a batch with a job whose inputs were corrected without end.
func (a *appending) findOneByOne(ctx context.Context, records []audit.Record) error {
	var jobs, instances []int64
	var inputs [][]byte
	var clusters []string
	for _, r := range records {
		clean(&r)
		jobs, inputs = append(jobs, r.JobKey), append(inputs, r.Inputs[:])
		instances, clusters = append(instances, r.ProcessInstanceKey), append(clusters, r.Cluster)
	}
	rows, err := a.conn.Query(ctx, findKeys, jobs, inputs, instances, clusters)
	if err != nil {
		return err
	}
	return a.readStored(rows)
}

func (a *appending) readStored(rows pgx.Rows) error {
	return each(rows, func(r *audit.Record) error {
		a.read++
		stored, job := *r, jobOf{r.Cluster, r.JobKey}
		a.stored[job] = append(a.stored[job], &stored)
		return nil
	})
}
