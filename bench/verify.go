package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// million is how many decisions `worker audit verify` is to check in less than verifySeconds.
const (
	million       = 1_000_000
	verifySeconds = 10
)

// verifyRows times `worker audit verify` on both full stores, once each.
func (b both) verifyRows(ctx context.Context, program string) (rows []row, err error) {
	for _, f := range []struct {
		name  string
		store *filled
	}{{"SQLite", b.inFile}, {"PostgreSQL", b.onServer}} {
		seconds, err := verify(ctx, program, f.store.storage)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		r := newRow(f.name+": worker audit verify, s", "%.1f", []float64{seconds})
		if f.store.rows == million {
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
	command.Env = append(kept.environment(), "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"))
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
