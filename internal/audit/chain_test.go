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

func TestTheHashCoversTheTenant(t *testing.T) {
	own, clinic, other := audittest.Record(0), audittest.Record(0), audittest.Record(0)
	clinic.Tenant, other.Tenant = "clinic", "clinics"
	seen := map[string]bool{hashOf(own): true, hashOf(clinic): true, hashOf(other): true}
	check.Same(t, 3, len(seen), "different hashes")
	clinic.Tenant, clinic.Detail = "", clinic.Detail+"\x00\x00\x00\x06clinic"
	check.Same(t, false, seen[hashOf(clinic)], "a tenant that moved into the detail has the hash of before")
}

func TestTenantIDsAreReversible(t *testing.T) {
	for id, want := range map[string]string{"": "", audit.DefaultTenant: "", "clinic": "clinic"} {
		check.Same(t, want, audit.TenantOf(id), "tenant of %q", id)
	}
	for _, id := range []string{audit.DefaultTenant, "clinic"} {
		check.Same(t, id, audit.TenantID(audit.TenantOf(id)), "id")
	}
}
