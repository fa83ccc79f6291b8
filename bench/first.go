package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"strings"
	"time"
	_ "time/tzdata" // the policy's time zone, as in the worker's binary

	"github.com/camunda/zeebe/clients/go/v8/pkg/entities"
	"github.com/camunda/zeebe/clients/go/v8/pkg/worker"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
)

// firstConnections is how many connections to PostgreSQL the first worker has, and handlers.
const firstConnections = 16

// openFirst opens the first worker's store. It also returns how many handlers the worker runs on it.
func openFirst(ctx context.Context, url string) (db *sql.DB, handlers int, err error) {
	driver, handlers := "sqlite", libraryConcurrency
	if strings.HasPrefix(url, "postgres") {
		driver, handlers = "pgx", firstConnections
	}
	if db, err = sql.Open(driver, url); err != nil {
		return nil, 0, err
	}
	db.SetMaxOpenConns(1)
	if driver == "pgx" {
		db.SetMaxOpenConns(firstConnections)
		db.SetMaxIdleConns(firstConnections)
	}
	_, err = db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS decisions (job bigint PRIMARY KEY, claim text, at text, answer text)")
	return db, handlers, err
}

// workFirst is the first worker that a team writes: the rule, one INSERT a job, synced, and the answer. It has no chain, no
// outbox, no look for a job that came before, and no metrics.
func workFirst(ctx context.Context, address string) error {
	db, handlers, err := openFirst(ctx, os.Getenv(firstStore))
	if err != nil {
		return err
	}
	defer db.Close()
	tiss := policy.BuiltIn("tiss")
	return work(ctx, address, handlers, func(client worker.JobClient, j entities.Job) error {
		var in struct {
			ClaimID, SubmissionError string
			RetryCount               int
		}
		if err := json.Unmarshal([]byte(j.Variables), &in); err != nil {
			return err
		}
		now := time.Now()
		d := tiss.Decide(retry.Request{
			ClaimID: in.ClaimID, SubmissionError: in.SubmissionError, RetryCount: in.RetryCount, ProcessInstanceKey: j.ProcessInstanceKey,
		}, now)
		answer, err := json.Marshal(map[string]any{
			"shouldRetry": d.ErrorCode() == "", "retryCount": d.RetryCount, "errorClassification": d.Error.Class,
			"nextRetryTime": d.NextRetryTime, "originalError": in.SubmissionError,
		})
		if err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO decisions VALUES ($1, $2, $3, $4)",
			j.Key, in.ClaimID, now.Format(time.RFC3339), string(answer)); err != nil {
			return err
		}
		if d.ErrorCode() != "" {
			with, err := client.NewThrowErrorCommand().JobKey(j.Key).ErrorCode(d.ErrorCode()).VariablesFromString(string(answer))
			if err == nil {
				_, err = with.Send(ctx)
			}
			return err
		}
		with, err := client.NewCompleteJobCommand().JobKey(j.Key).VariablesFromString(string(answer))
		if err == nil {
			_, err = with.Send(ctx)
		}
		return err
	})
}
