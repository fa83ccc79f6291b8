package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/worker"
)

const (
	// fillBatch is how many decisions are appended at a time to fill a store.
	fillBatch = 5000
	// fillProgressEvery is the number of decisions between two progress lines.
	fillProgressEvery = 1_000_000
	// bytesPerRow is more than a decision takes on the disk, in both stores together.
	bytesPerRow = 3000
)

// checkRoom reports whether the disk has room for full stores.
func checkRoom(rows int) error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(os.TempDir(), &disk); err != nil {
		return fmt.Errorf("look how much room there is in %s: %w", os.TempDir(), err)
	}
	free, need := float64(disk.Bavail)*float64(disk.Bsize)/(1<<30), float64(rows)*bytesPerRow/(1<<30)
	if free < need {
		return fmt.Errorf("two stores of %d decisions need %.0f GiB in %s, which has %.0f GiB: free some, set TMPDIR, or ask for less with -rows", rows, need, os.TempDir(), free)
	}
	return nil
}

// filled is a store that is filled once and then worked on in every round.
type filled struct {
	storage
	name string
	open func(context.Context) (audit.Store, error)
	// settle does now what the server would do at some time, so that it does not do it while a worker is measured.
	settle func(context.Context) error
}

func (s *stores) filledSQLite() (*filled, error) {
	path := filepath.Join(s.dir, "full.db")
	keyFile, err := s.keyFor(path)
	return &filled{
		name: "SQLite", storage: storage{url: "sqlite://" + path, keyFile: keyFile},
		open: func(ctx context.Context) (audit.Store, error) {
			return sqlite.Open(ctx, path, s.secret, sqlite.Options{})
		},
		settle: func(context.Context) error { return nil },
	}, err
}

func (s *stores) filledPostgres(ctx context.Context, program string) (*filled, error) {
	database, err := s.database(ctx, program)
	if err != nil {
		return nil, err
	}
	database.remove = nil
	return &filled{
		name: "PostgreSQL", storage: database,
		open: func(ctx context.Context) (audit.Store, error) {
			return postgres.Open(ctx, database.url, s.secret, postgres.Options{})
		},
		settle: func(ctx context.Context) error { return s.sql(ctx, database.url, "VACUUM ANALYZE", "CHECKPOINT") },
	}, nil
}

// next is the store for one more run of so many jobs: their claims and keys go on where the last one ended.
func (f *filled) next(jobs int) func(context.Context) (storage, error) {
	return func(context.Context) (storage, error) {
		kept := f.storage
		f.rows += jobs
		return kept, nil
	}
}

// fill adds decisions until there are so many, as the worker does: each batch takes the marks away from the one before, which
// is answered by then. They are a second apart, the first one at begin.
func (f *filled) fill(ctx context.Context, rows int, begin time.Time, patterns []audit.Record, progress io.Writer) error {
	store, err := f.open(ctx)
	if err != nil {
		return err
	}
	var answered []int64
	for err == nil && (f.rows < rows || len(answered) > 0) {
		records := make([]audit.Record, min(fillBatch, rows-f.rows))
		for i := range records {
			records[i] = decisionOn(f.rows+i, begin, patterns)
		}
		var appended []audit.Appended
		appended, err = store.Append(ctx, records, answered)
		answered = answered[:0]
		for i := range appended {
			answered = append(answered, appended[i].Record.ID)
		}
		if f.rows += len(records); len(records) > 0 && f.rows%fillProgressEvery == 0 {
			fmt.Fprintf(progress, "%d of %d decisions are in %s\n", f.rows, rows, f.name)
		}
	}
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	return f.settle(ctx)
}

// key is the key of the job of a claim by its number, and of its process instance. The engine's keys are greater.
func key(number int) int64 { return int64(number) + 1 }

// decisionOn is the decision about a claim by its number, as large as the pattern that it is made of.
func decisionOn(number int, begin time.Time, patterns []audit.Record) audit.Record {
	r := patterns[number%len(patterns)]
	r.At = begin.Add(time.Duration(number) * time.Second)
	r.ClaimID, r.JobKey, r.ProcessInstanceKey = claimID(number), key(number), key(number)
	if !r.NextRetryTime.IsZero() {
		r.NextRetryTime = r.At.Add(10 * time.Minute)
	}
	// Like a hash: another one for each, in no order.
	hash := uint64(number) * 0x9E3779B97F4A7C15 //nolint:gosec // the bits are what counts
	binary.BigEndian.PutUint64(r.Inputs[:8], hash)
	binary.BigEndian.PutUint64(r.Inputs[8:], hash)
	return r
}

// patterns are the records that the worker makes of the first hundred claims.
func patterns() ([]audit.Record, error) {
	secret, err := audit.NewSecret()
	if err != nil {
		return nil, err
	}
	made := &forgetful{}
	var records []audit.Record
	made.seen = func(batch []audit.Record) { records = append(records, batch...) }
	trail := worker.Trail{Recorder: made, Rounds: made, Secret: secret, Cluster: "zeebe"}
	handler := worker.NewHandler(worker.Options{
		JobType: contract.JobType, Policy: "tiss", Policies: policy.BuiltIns, Trail: trail, Now: time.Now,
		Observer: metrics.New(metrics.NewRegistry(), policy.BuiltIns().All()), Logger: zap.NewNop(),
	})
	claims := mixed(0, 100)
	jobs := make([]job.Job, len(claims))
	for i, j := range gatewayJobs(claims) {
		jobs[i] = job.Job{
			Key: key(i), ProcessInstanceKey: key(i), ProcessID: j.ProcessID, ElementID: j.ElementID,
			Variables: j.Variables, Retries: 3, Received: time.Now(),
		}
	}
	handler.Handle(context.Background(), jobs)
	return records, nil
}

// both are the full stores, and when the first decision in them was taken.
type both struct {
	inFile, onServer *filled
	begin            time.Time
}

// fill fills both at the same time.
func (b both) fill(ctx context.Context, rows int, progress io.Writer) error {
	patterns, err := patterns()
	if err != nil {
		return err
	}
	started := time.Now()
	fmt.Fprintf(progress, "filling the stores up to %d decisions\n", rows)
	group, filling := errgroup.WithContext(ctx)
	for _, f := range []*filled{b.inFile, b.onServer} {
		group.Go(func() error { return f.fill(filling, rows, b.begin, patterns, progress) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("fill the stores: %w", err)
	}
	// What was written must be on the disk by then, or the first workers would wait for it at every commit.
	if err := exec.CommandContext(ctx, "sync").Run(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	fmt.Fprintf(progress, "filled the stores up to %d decisions in %.0f s\n", rows, time.Since(started).Seconds())
	return nil
}

// fullRounds compares the worker on stores that hold many decisions already with the worker on empty ones. The full
// stores are filled once, and grow by the jobs of each round.
func fullRounds(ctx context.Context, program string, on *stores, s settings, progress io.Writer) ([]series, error) {
	inFile, err := on.filledSQLite()
	if err != nil {
		return nil, err
	}
	onServer, err := on.filledPostgres(ctx, program)
	if err != nil {
		return nil, err
	}
	full := both{inFile, onServer, time.Now().Add(-time.Duration(s.rows[len(s.rows)-1]) * time.Second)}
	var all []series
	for i, rows := range s.rows {
		if err := full.fill(ctx, rows, progress); err != nil {
			return all, err
		}
		var checks []row
		if i == 0 { // a greater one would take minutes, and what it reads all the room in the system's cache
			if checks, err = full.verifyRows(ctx, program); err != nil {
				return all, err
			}
		}
		millions := fmt.Sprintf("%g million", float64(rows)/1e6)
		contenders := []contender{
			product("SQLite, empty", program, on.sqlite),
			product("SQLite, "+millions, program, full.inFile.next(s.jobs)).against(0, atMost(1.1)),
			product("PostgreSQL, empty", program, on.postgres(program)).against(2, noTarget),
			product("PostgreSQL, "+millions, program, full.onServer.next(s.jobs)).against(2, atMost(1.1)),
		}
		what := millions + " decisions in the store, ratio to an empty one"
		one, err := gatewayRounds(ctx, what, contenders, s, progress)
		if err != nil {
			return all, err
		}
		one.further = checks
		all = append(all, one)
	}
	return all, nil
}

// million is how many decisions `worker audit verify` is to check in less than verifySeconds.
const (
	million       = 1_000_000
	verifySeconds = 10
)

// verifyRows times `worker audit verify` on both full stores, once each.
func (b both) verifyRows(ctx context.Context, program string) (rows []row, err error) {
	for _, f := range []*filled{b.inFile, b.onServer} {
		seconds, err := verify(ctx, program, f.storage)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		r := newRow(f.name+": worker audit verify, s", "%.1f", []float64{seconds})
		if f.rows == million {
			r = r.want(below(verifySeconds))
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// verify runs `worker audit verify` as a person does, and returns how many seconds it took from start to end. It fails where
// the command finds anything else than what was stored.
func verify(ctx context.Context, program string, kept storage) (seconds float64, err error) {
	command := exec.CommandContext(ctx, program, "audit", "verify", "--json")
	command.Env = environment(kept.environment()...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	started := time.Now()
	out, err := command.Output()
	seconds = time.Since(started).Seconds()
	if err != nil {
		return 0, fmt.Errorf("worker audit verify: %w: %s", err, lastWords(string(out)+stderr.String()))
	}
	var found struct{ Records int }
	if err := json.Unmarshal(out, &found); err != nil {
		return 0, fmt.Errorf("worker audit verify: %w: %s", err, lastWords(string(out)))
	}
	if found.Records != kept.rows {
		return 0, fmt.Errorf("worker audit verify checked %d records instead of %d", found.Records, kept.rows)
	}
	return seconds, nil
}
