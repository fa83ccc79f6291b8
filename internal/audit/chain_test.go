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
	audit.NewChain(1).Link(&r)
	return r.Hash.String()
}

func TestRecordsOfEarlierVersionsKeepTheirHash(t *testing.T) {
	check.Same(t, "82decf6209de6a2e5589784f6793d1a396343e18516bc4a56735a6ce2711634d", hashOf(audittest.Record(0)), "hash")
}
