package sqlite

import (
	"context"
	"fmt"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
)

// Row 15 of the faults: the power goes, and of what was written since the last sync the disk has nothing, all, or any part.
//
// A child does to a store what a worker does, under strace, which writes down what it writes, syncs and says. For each of
// 1,000 moments the test makes the files that a disk may then hold, and opens them as a worker.
//
// childSync in its environment makes the test binary the worker of the power cuts: it appends so much, and ends. Its value is
// the pragma synchronous, empty for the store's own.
const childSync = "AUDIT_TEST_CHILD_SYNC"

// What the child does: batches of records, in so many openings of the store, with a checkpoint every few batches.
const (
	cutOpenings   = 4
	cutBatches    = 15 // for each opening
	cutBatch      = 4
	cutCheckpoint = 40 // pages
)

// cutChild is the child.
func cutChild(path, key, synchronous string) error {
	ctx := context.Background()
	secret, err := audit.LoadSecret(key)
	if err != nil {
		return err
	}
	n := 0
	var answered []int64
	for range cutOpenings {
		s, err := Open(ctx, path, secret, Options{Worker: "child"})
		if err != nil {
			return err
		}
		if err := s.writer.exec(ctx, fmt.Sprint("PRAGMA wal_autocheckpoint=", cutCheckpoint)); err != nil {
			return err
		}
		if synchronous != "" {
			if err := s.writer.exec(ctx, "PRAGMA synchronous="+synchronous); err != nil {
				return err
			}
		}
		for range cutBatches {
			results, err := s.Append(ctx, audittest.Records(n, n+cutBatch), answered)
			if err != nil {
				return err
			}
			n += cutBatch
			fmt.Println(n) //nolint:forbidigo // it stands in the trace
			answered = answered[:0]
			for i := range results {
				answered = append(answered, results[i].Record.ID)
			}
			if err := s.Published(ctx, answered); err != nil {
				return err
			}
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}
