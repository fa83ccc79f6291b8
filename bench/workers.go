package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
	_ "time/tzdata" // the policy's time zone, as in the worker's binary

	"github.com/camunda/zeebe/clients/go/v8/pkg/entities"
	"github.com/camunda/zeebe/clients/go/v8/pkg/worker"
	"github.com/camunda/zeebe/clients/go/v8/pkg/zbc"
	_ "modernc.org/sqlite"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
)

const (
	decisionJob   = "analyze-retry"
	outcomeJob    = "record-retry-outcome"
	maxJobsActive = 50
	noDecision    = "no-decision"
	firstWorker   = "first-worker"
)

// contender is a worker to measure.
type contender struct {
	name string
	argv []string // the gateway's address follows, but for our worker, which has it from its settings
	// store makes the store of one run and returns the settings that name it; nil where the worker needs none.
	store func(context.Context) (settings []string, err error)
	// decides says that its answers are to be right.
	decides bool
}

// contenders are the workers that take turns. The first is the one that the others are compared with.
func (b *bench) contenders(against string) ([]contender, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	made := 0
	key := func() (path string, err error) {
		made++
		path = filepath.Join(b.dir, fmt.Sprintf("%d.key", made))
		return path, b.secret.Save(path)
	}
	inFile := func(context.Context) ([]string, error) {
		path, err := key()
		return []string{"RETRY_DATABASE_URL=sqlite://" + path + ".db", "RETRY_AUDIT_KEY_FILE=" + path}, err
	}
	onServer := func(ctx context.Context) ([]string, error) {
		path, err := key()
		if err != nil {
			return nil, err
		}
		url, err := b.server.NewDatabase(ctx)
		return []string{"RETRY_DATABASE_URL=" + url, "RETRY_AUDIT_KEY_FILE=" + path}, err
	}
	all := []contender{
		{name: "no decision", argv: []string{self, noDecision}},
		{name: "SQLite", argv: []string{b.program, "run"}, store: inFile, decides: true},
		{name: "PostgreSQL", argv: []string{b.program, "run"}, store: onServer, decides: true},
	}
	if against == "" {
		return append(all, contender{name: "first worker", argv: []string{self, firstWorker}, decides: true}), nil
	}
	return append(all,
		contender{name: "other SQLite", argv: []string{against, "run"}, store: inFile, decides: true},
		contender{name: "other PostgreSQL", argv: []string{against, "run"}, store: onServer, decides: true}), nil
}

// others are the workers of this program, by the argument that makes it one.
var others = map[string]func(ctx context.Context, address string) error{
	noDecision: func(ctx context.Context, address string) error {
		return work(ctx, address, func(client worker.JobClient, j entities.Job) error {
			_, err := client.NewCompleteJobCommand().JobKey(j.Key).Send(ctx)
			return err
		})
	},
	firstWorker: workFirst,
}

// work works jobs until ctx ends, with the client library's worker as it comes but for the number of active jobs. It does
// not close the worker, which would wait for the poll that is open.
func work(ctx context.Context, address string, handle func(worker.JobClient, entities.Job) error) error {
	client, err := zbc.NewClient(&zbc.ClientConfig{GatewayAddress: address, UsePlaintextConnection: true})
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	client.NewJobWorker().JobType(decisionJob).Handler(func(c worker.JobClient, j entities.Job) {
		if err := handle(c, j); err != nil && ctx.Err() == nil {
			select {
			case failed <- err:
			default:
			}
		}
	}).MaxJobsActive(maxJobsActive).Open()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// workFirst is the first worker that a team writes: the rule, one INSERT a job, synced, and the answer. It has no chain, no
// outbox, no look for a job that came before, and no metrics.
func workFirst(ctx context.Context, address string) error {
	dir, err := os.MkdirTemp("", "first-worker-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "decisions.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE decisions (job INTEGER PRIMARY KEY, claim TEXT, at TEXT, answer TEXT)"); err != nil {
		return err
	}
	tiss := policy.BuiltIn("tiss")
	return work(ctx, address, func(client worker.JobClient, j entities.Job) error {
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
		if _, err := db.ExecContext(ctx, "INSERT INTO decisions VALUES (?, ?, ?, ?)",
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
