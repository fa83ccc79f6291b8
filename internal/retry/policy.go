package retry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Policy says which errors pass by themselves and how long to wait for that. Treat it as read-only once made.
type Policy struct {
	// Name tells policies apart. It takes part in the jitter, so renaming a policy moves its retries.
	Name string
	// Base is the wait before the first retry, before jitter. It doubles with every further retry.
	Base time.Duration
	// Min and Max bound every wait, jitter included (RN-BIL-005 V3). All three durations are whole minutes.
	Min, Max time.Duration
	// JitterPercent spreads a wait by so many percent to both sides, 0 to 100. 0 means no jitter.
	JitterPercent int
	// MaxRetries is how often a claim is tried again (RN-BIL-005 V1); a claim is submitted once more than that.
	MaxRetries int
	// TimeZone is the IANA name of the zone in which a local time without a zone is read.
	TimeZone string
	// Rules classify an error text. Permanent rules are asked before all others, then the order of the list holds.
	Rules []Rule

	version string
}

// TISS returns the policy for submissions to insurers over TISS (RN-BIL-005 and RN-BIL-004).
func TISS() *Policy {
	p := &Policy{
		Name:          "tiss",
		Base:          5 * time.Minute,
		Min:           5 * time.Minute,
		Max:           240 * time.Minute,
		JitterPercent: 20,
		MaxRetries:    5,
		TimeZone:      "America/Sao_Paulo",
		Rules: append(
			codes(Permanent,
				"INVALID_PATIENT_DATA", "INSURANCE_EXPIRED", "AUTHORIZATION_DENIED", "DUPLICATE_CLAIM",
				"INVALID_PROCEDURE_CODE"),
			codes(Transient,
				"TIMEOUT", "CONNECTION_ERROR", "SERVICE_UNAVAILABLE", "NETWORK_ERROR", "TEMPORARY_ERROR",
				"RATE_LIMIT", "SERVER_ERROR", "503", "504")...),
	}
	p.version = p.fingerprint()
	return p
}

// Version is a short hash of everything in the policy that can change a decision. Two decisions with the same name and
// version were made by the same policy.
func (p *Policy) Version() string { return p.version }

func (p *Policy) fingerprint() string {
	h := sha256.New()
	fmt.Fprintln(h, p.Name, p.Base, p.Min, p.Max, p.JitterPercent, p.MaxRetries, p.TimeZone)
	for _, r := range p.Rules {
		fmt.Fprintln(h, r.ID, r.Class, r.Code)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}
