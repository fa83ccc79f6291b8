package main

import (
	"io"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

// opened makes the stores of one test, and builds the worker.
func opened(t *testing.T) (on *stores, program string) {
	t.Helper()
	on, err := openStores(t.Context(), io.Discard)
	check.Must(t, err)
	t.Cleanup(func() {
		if err := on.close(); err != nil {
			t.Error(err)
		}
	})
	program, remove, err := build(t.Context(), "", io.Discard)
	check.Must(t, err)
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
	return on, program
}

func TestStoresOfTheBenchmark(t *testing.T) {
	on, program := opened(t)
	t.Run("every worker of a round has its own", func(t *testing.T) { everyWorkerHasItsStore(t, on, program) })
	t.Run("one that is filled is sound", func(t *testing.T) { filledStoreIsSound(t, on, program) })
}

// Each run has a store of its own, made by the build that works on it. Two builds, here twice the same, take turns.
func everyWorkerHasItsStore(t *testing.T, on *stores, program string) {
	t.Helper()
	workers, err := twoBuilds(program, program, on)
	check.Must(t, err)
	measured, err := gatewayRounds(t.Context(), workers.ratio, workers.contenders, settings{rounds: 1, jobs: 100}, io.Discard)
	if err != nil || len(measured.rounds) != 1 {
		t.Errorf("%d rounds, %v", len(measured.rounds), err)
	}
}

func filledStoreIsSound(t *testing.T, on *stores, program string) {
	t.Helper()
	onServer, err := on.filledPostgres(t.Context(), program)
	check.Must(t, err)
	inFile, err := on.filledSQLite()
	check.Must(t, err)
	full := both{inFile, onServer, time.Now().Add(-time.Hour)}
	for _, rows := range []int{3, fillBatch + 7} {
		check.Must(t, full.fill(t.Context(), rows, io.Discard))
	}
	if rows, err := full.verifyRows(t.Context(), program); err != nil || len(rows) != 2 {
		t.Errorf("worker audit verify: %v, %v", rows, err)
	}
	full.inFile.rows++
	if rows, err := full.verifyRows(t.Context(), program); err == nil {
		t.Errorf("a record is missing, and the check took %v", rows)
	}
}
