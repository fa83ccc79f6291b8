package main

import (
	"io"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/audit/sqlite"
)

// opened makes the stores of one test, and builds the worker.
func opened(t *testing.T) (on *stores, program string) {
	t.Helper()
	on, err := openStores(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := on.close(); err != nil {
			t.Error(err)
		}
	})
	program, remove, err := build(t.Context(), "", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
	return on, program
}

// Each run has a store of its own, made by the build that works on it. Two builds, here twice the same, take turns.
func TestEveryWorkerOfARoundHasItsStore(t *testing.T) {
	on, program := opened(t)
	workers, err := twoBuilds(program, program, on)
	if err != nil {
		t.Fatal(err)
	}
	measured, err := gatewayRounds(t.Context(), workers.ratio, workers.gateway, settings{Rounds: 2, Jobs: 100}, io.Discard)
	if err != nil || len(measured.Rounds) != 2 {
		t.Errorf("%d rounds, %v", len(measured.Rounds), err)
	}
}

// A store that was filled past the worker must be one that the worker would have written, or its figures mean nothing.
func TestAFilledStoreIsSoundAndTakesMore(t *testing.T) {
	on, program := opened(t)
	onServer, err := on.filledPostgres(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	inFile, err := on.filledSQLite()
	if err != nil {
		t.Fatal(err)
	}
	full := both{inFile, onServer, time.Now().Add(-time.Hour)}
	const last = fillBatch + 7
	for _, rows := range []int{3, last} {
		if err := full.fill(t.Context(), rows, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	if rows, err := full.verifyRows(t.Context(), program); err != nil || len(rows) != 2 {
		t.Errorf("worker audit verify: %v, %v", rows, err)
	}
	full.inFile.rows++
	if rows, err := full.verifyRows(t.Context(), program); err == nil {
		t.Errorf("a record is missing, and the check took %v", rows)
	}
	file, err := sqlite.Open(t.Context(), on.dir+"/full.db", on.secret, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	server, err := postgres.Open(t.Context(), onServer.url, on.secret, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	patterns, err := patterns()
	if err != nil {
		t.Fatal(err)
	}
	for name, store := range map[string]audit.Store{"SQLite": file, "PostgreSQL": server} {
		t.Run(name, func(t *testing.T) {
			appended, err := store.Append(t.Context(), []audit.Record{
				decisionOn(last-1, full.begin, patterns), decisionOn(last, full.begin, patterns),
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !appended[0].Repeated || appended[1].Repeated || appended[1].JobKeyReused {
				t.Errorf("the last decision of the filling and the next one: %+v", appended)
			}
			if appended[1].Record.Seq != last+1 {
				t.Errorf("the chain goes on at %d, want %d", appended[1].Record.Seq, last+1)
			}
			v, err := audit.Verify(t.Context(), store, on.secret.Public(), nil, nil)
			if err != nil || v.Records != last+1 {
				t.Errorf("%d records verified, %v; want %d", v.Records, err, last+1)
			}
			waiting, _, err := store.Backlog(t.Context())
			if err != nil || waiting != last+1 {
				t.Errorf("%d events wait, %v; want %d", waiting, err, last+1)
			}
			still, err := store.Unanswered(t.Context(), []int64{appended[0].Record.ID, appended[1].Record.ID})
			if err != nil || len(still) != 1 {
				t.Errorf("%d of the last two are unanswered, %v; want the one that was just appended", len(still), err)
			}
		})
	}
}
