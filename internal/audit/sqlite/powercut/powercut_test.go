//go:build servers

// Package powercut cuts the power under the SQLite store. It needs strace.
package powercut

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// Row 15 of the faults: the power goes, and of what was written since the last sync the disk has nothing, all, or any part.
//
// A child does to a store what a worker does, under strace, which records what it writes, syncs and prints. For each of
// 1,000 moments the test makes the files that a disk may then hold, and opens them as a worker.

// The names in the child's environment.
const (
	childPath = "AUDIT_TEST_CUT_PATH"
	childKey  = "AUDIT_TEST_CUT_KEY"
)

// What the child does: batches of records, in so many openings of the store, with a checkpoint every few batches.
const (
	cutOpenings   = 4
	cutBatches    = 15 // for each opening
	cutBatch      = 4
	cutCheckpoint = 4
)

// TestMain runs the tests or, with childPath in the environment, the worker whose power is cut.
func TestMain(m *testing.M) {
	path := os.Getenv(childPath)
	if path == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := child(path, os.Getenv(childKey)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child appends and publishes records, and prints how many are stored.
func child(path, key string) error {
	secret, err := audit.LoadSecret(key)
	if err != nil {
		return err
	}
	n := 0
	for range cutOpenings {
		if err := session(context.Background(), path, secret, &n); err != nil {
			return err
		}
	}
	return nil
}

// session opens the store once. Its checkpoints are those of another connection: the store's own come every 4,000 pages.
func session(ctx context.Context, path string, secret *audit.Secret, n *int) (err error) {
	s, err := sqlite.Open(ctx, path, audittest.Key(secret))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	other, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	defer other.Close() // before the store, which is then the last one and tidies up
	lead, err := s.Lead(ctx)
	if err != nil {
		return err
	}
	for batch := range cutBatches {
		results, err := s.Append(ctx, audittest.Entries(audittest.Records(*n, *n+cutBatch)...))
		if err != nil {
			return err
		}
		*n += cutBatch
		fmt.Println(*n) //nolint:forbidigo // it stands in the trace
		if err := lead.Published(ctx, audittest.IDs(results)); err != nil {
			return err
		}
		if batch%cutCheckpoint == cutCheckpoint-1 {
			if _, err := other.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
				return err
			}
		}
	}
	return nil
}

// traced runs the child and returns what it did.
func traced(t *testing.T) (secret *audit.Secret, events []event) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	check.Must(t, err)
	secret, key := audittest.SavedSecret(t)
	trace := filepath.Join(audittest.MemoryDir(t), "trace")
	cmd := exec.CommandContext(t.Context(), "strace", "-f", "-y", "-xx", "-s", "100000", "-o", trace, "-e", "signal=none",
		"-e", "trace=open,openat,creat,write,writev,pwrite64,pwritev,pwritev2,fsync,fdatasync,sync_file_range,ftruncate,fallocate,rename,renameat,renameat2,link,linkat,unlink,unlinkat",
		os.Args[0])
	cmd.Env = append(os.Environ(), childPath+"="+filepath.Join(dir, "audit.db"), childKey+"="+key)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the child under strace (Debian: apt-get install strace): %v\n%s", err, said)
	}
	events = readTrace(t, trace, dir)
	var writes, syncs, checkpoints, stored int
	for i, e := range events {
		switch {
		case e.stored > 0:
			stored++
		case strings.Contains(e.call, "sync"):
			syncs++
		case e.call == "pwrite64":
			if writes++; e.name == "audit.db" && events[i-1].name != e.name {
				checkpoints++
			}
		}
	}
	t.Logf("%d writes, %d syncs, %d checkpoints, %d batches acknowledged", writes, syncs, checkpoints, stored)
	if stored != cutOpenings*cutBatches || writes == 0 || syncs == 0 || checkpoints < 2*cutOpenings {
		t.Fatal("the trace is not complete")
	}
	return secret, events
}

// losses cuts the power at so many moments, and returns what was lost at each, in words.
func losses(t *testing.T, events []event, secret *audit.Secret, moments int, random *rand.Rand) (lost []string) {
	t.Helper()
	at := make([]int, moments)
	for i := range at {
		at[i] = random.IntN(len(events) + 1)
	}
	slices.Sort(at)
	d, dir, done, stored := newDisk(), audittest.MemoryDir(t), 0, 0
	for i, moment := range at {
		for ; done < moment; done++ {
			stored = max(stored, events[done].stored)
			check.Must(t, d.do(events[done]))
		}
		c := cut(i % int(cuts))
		check.Must(t, d.after(c, random, dir))
		if err := survives(t.Context(), filepath.Join(dir, "audit.db"), secret, stored); err != nil {
			lost = append(lost, fmt.Sprintf("cut %d, at event %d of %d, kind %d: %v", i, moment, len(events), c, err))
		}
	}
	t.Logf("%d of %d cuts lose something", len(lost), moments)
	return lost
}

// survives opens what the disk has as a worker does, and wants every record that was acknowledged.
func survives(ctx context.Context, path string, secret *audit.Secret, stored int) error {
	s, err := sqlite.Open(ctx, path, audittest.Key(secret))
	if err != nil {
		return err
	}
	defer s.Close()
	v, err := audit.Verify(ctx, s, secret.Public(), nil)
	if err == nil && v.Records < int64(stored) {
		err = fmt.Errorf("%d of %d acknowledged records", v.Records, stored)
	}
	return err
}

// A store that is refused counts as lost too: every one opens. What stands for a directory that is not synced is that new
// files, and files that were removed, may be there or not. The guard is synchronous=FULL, set with each writer. Seen to
// fail with NORMAL there: 398 of the 1,000 cuts lose acknowledged records.
func TestNoAcknowledgedRecordIsLostWhenThePowerGoes(t *testing.T) {
	t.Parallel()
	secret, events := traced(t)
	lost := losses(t, events, secret, 1000, rand.New(rand.NewPCG(15, 1)))
	for _, loss := range lost[:min(len(lost), 5)] {
		t.Error(loss)
	}
}
