package cli_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

func TestOnPostgreSQLTheCommandsSayTheSame(t *testing.T) {
	url := devpostgres.Database(t)
	keyFile := filepath.Join(t.TempDir(), "audit.key")
	secret := savedSecret(t, keyFile)
	a := &archive{path: "STORE", settings: []string{"RETRY_DATABASE_URL=" + url, "RETRY_AUDIT_KEY_FILE=" + keyFile}, secret: secret}

	if code, _, stderr := a.run(t, "history", accepted); code != 1 || !strings.Contains(stderr, "worker migrate") {
		t.Errorf("before there are tables: exit code %d, complaint %s", code, stderr)
	}
	for range 2 {
		if stdout := a.must(t, "migrate"); !strings.Contains(stdout, "up to date") || strings.Contains(stdout, devpostgres.Shared(t).Password()) {
			t.Errorf("output %q", stdout)
		}
	}
	store, err := postgres.Open(t.Context(), url, secret, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	a.add(t, store, week()...)
	if _, err := store.Append(t.Context(), nil, a.ids); err != nil {
		t.Fatal(err)
	}
	for name, args := range storeGolden {
		t.Run(name, func(t *testing.T) { checkGolden(t, "store_"+name, a.must(t, args...)) })
	}
	a.must(t, "audit", "verify")
	if stdout := a.must(t, "audit", "purge"); !strings.Contains(stdout, "Removed nothing.") { // beside the worker
		t.Errorf("output:\n%s", stdout)
	}
	if n := len(subjects(t, a.must(t, "events", "tail", "--unpublished"))); n != len(week()) {
		t.Errorf("%d events wait to be published", n)
	}
}

func TestAnEmptiedPostgreSQLStoreIsAFindingEvenWhereNoneIsExpected(t *testing.T) {
	url := devpostgres.Database(t)
	keyFile := filepath.Join(t.TempDir(), "audit.key")
	secret := savedSecret(t, keyFile)
	a := &archive{path: "STORE", settings: []string{"RETRY_DATABASE_URL=" + url, "RETRY_AUDIT_KEY_FILE=" + keyFile}, secret: secret}
	a.must(t, "migrate")
	if code, _, stderr := a.run(t, "audit", "verify"); code != 1 || !strings.Contains(stderr, "there are no records, and no stubs") {
		t.Errorf("a new store: exit code %d, complaint %s", code, stderr)
	}
	a.must(t, "audit", "verify", "--expect-empty")
	store, err := postgres.Open(t.Context(), url, secret, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	a.add(t, store, week()...)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), `SET search_path = analyze_retry; SET session_replication_role = replica;
		DELETE FROM records; DELETE FROM heads; DELETE FROM meta; DELETE FROM outbox; DELETE FROM unanswered`); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"audit", "verify"}, {"audit", "verify", "--expect-empty"}} {
		if code, _, stderr := a.run(t, args...); code != 1 || !strings.Contains(stderr, "has given out record IDs through 16") {
			t.Errorf("%v: exit code %d, complaint %s", args, code, stderr)
		}
	}
}
