package postgres_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/devpostgres"
)

func TestWhatWasAppendedIsReadAsItWasReturned(t *testing.T) {
	key := secret(t)
	s := open(t, devpostgres.Database(t), key)
	appended := mustAppend(t, s, decisions(1, 51)...)
	var want []audit.Record
	for _, a := range appended {
		want = append(want, a.Record)
	}
	got, err := s.Unpublished(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	mustVerify(t, s, key, 50)
}
