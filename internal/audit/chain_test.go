package audit_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// hashOf links a record as the first one of chain 1, and returns its hash.
func hashOf(r audit.Record) string {
	r.ID = 1
	chain := audit.Beginning(1)
	chain.Link(&r)
	return r.Hash.String()
}

// What is stored is checked with it years later.
func TestTheHashOfARecordNeverChanges(t *testing.T) {
	r := audittest.Record(0)
	r.Prev, r.HeldBy, r.DecidedBy, r.Course = 7, "billing", "ana", audit.Course{Attempts: 3, Seconds: 60, Flags: audit.CourseFailed}
	check.Same(t, "9fd9f848c5b4a988c1d9ab5816cc2cc038e99c079a2df837e8cd9a470385830d", hashOf(r), "hash")
}
