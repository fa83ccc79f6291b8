package worker_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker"
)

// zeroSecret is a secret that is the same in every run.
func zeroSecret(t *testing.T) *audit.Secret {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	check.Must(t, err)
	path := filepath.Join(t.TempDir(), "audit.key")
	check.Must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	s, err := audit.LoadSecret(path)
	check.Must(t, err)
	return s
}

// inputs is by what a job's question is known again.
func inputs(t *testing.T, known func() *policy.Set, headers, variables string) string {
	t.Helper()
	m := newMemory()
	o := optionsOn(m, &counts{}, atNow, zap.NewNop())
	o.Trail.Secret, o.Policies = zeroSecret(t), known
	j := newJob(variables)
	j.Headers = headers
	worker.NewHandler(o).Handle(t.Context(), []job.Job{j})
	return fmt.Sprintf("%x", m.only(t).Inputs)
}

// The sums were taken from the worker before it knew policies: a job that it decided, and that comes again after the
// upgrade, is known.
func TestAJobThatAnOlderWorkerDecidedIsKnownAgain(t *testing.T) {
	for variables, want := range map[string]string{
		`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":4}`:                                                                              "ae3b89da1997e6e328d029e7c0d46a54",
		`{"submissionError":"CPF 123.456.789-09 \u00e9","lastSubmissionTime":"2025-01-12T07:39:30","claimId":"CLM-001-1","foreign":[1],"retryCount":2.0}`: "0e351bb5a61cb4c254ad6485b42bc5b8",
		`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":4,"retryAfter":null,"retryUntil":null,"max_attempts":null}`:                      "ae3b89da1997e6e328d029e7c0d46a54",
		// What is ignored today was an incident then.
		`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":4,"retryAfter":"60s"}`:       "8ad0310aa131275619d0bb80f50eb10b",
		`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":4,"retryAfter":""}`:          "817a09d034bca46a384456118b08c5c0",
		`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":4,"lastSubmissionTime":[1]}`: "542b91dc7f21b01143448c46c6bdd9c8",

		`{"claimId":"x"}`: "93aa83e83a5e721f79371a4e7e2bc1d1",
		`{}`:              "834ec225c62be1f19c99b9bdec997f06",
		`[1]`:             "04fc5a0b6292b7241f41469aedc942e8",
	} {
		check.Same(t, want, inputs(t, policy.BuiltIns, "", variables), "%s", variables)
		check.Same(t, want, inputs(t, policy.BuiltIns, `{"retryPolicy":"fast"}`, variables), "with a header, %s", variables)
	}
}

func TestEachNewVariableMakesAnotherQuestion(t *testing.T) {
	seen := map[string]string{}
	for _, more := range []string{
		``, `,"retryUntil":"2025-01-12T12:00:00Z"`, `,"retryAfter":"soon"`, `,"retryAfter":"sooner"`, `,"retryAfter":60`, `,"retryAfter":61`, `,"max_attempts":60`, `,"retry_delay":60`,
		`,"max_retry_delay":60`, `,"retry_delay":60,"max_retry_delay":60`,
	} {
		sum := inputs(t, policy.BuiltIns, "", asked{more: more}.job().Variables)
		if other, is := seen[sum]; is {
			t.Errorf("%q and %q are one question", more, other)
		}
		seen[sum] = more
	}
}

func TestOtherPoliciesMakeAnotherQuestionOfAFaultyTaskOnly(t *testing.T) {
	added := policies(t, "  - {name: night, extends: tiss}\n")
	for name, c := range map[string]struct {
		headers, more string
		another       bool
	}{
		"a policy that is not known":       {headers: `{"retryPolicy":"late"}`, another: true},
		"a bad number":                     {headers: `{"base":"soon"}`, another: true},
		"a number that the policy refuses": {headers: `{"max":"30s"}`, another: true},
		"a bad number and a bad variable":  {headers: `{"base":"soon"}`, more: `,"retryCount":-1`, another: true},
		"a bad variable":                   {headers: `{"retryPolicy":"fast"}`, more: `,"retryCount":-1`},
		"nothing":                          {headers: `{"retryPolicy":"fast","base":"2s"}`},
		"nothing, and no header either":    {},
	} {
		variables := asked{more: c.more}.job().Variables
		before, after := inputs(t, policy.BuiltIns, c.headers, variables), inputs(t, added, c.headers, variables)
		if (before != after) != c.another {
			t.Errorf("%s is wrong: another question: %v, want %v", name, before != after, c.another)
		}
	}
}

func TestJobIsDecidedOnceItsPolicyIsKnown(t *testing.T) {
	m := newMemory()
	j := asked{headers: `{"retryPolicy":"night"}`}.job()
	for range 2 {
		if a := byPolicy(t, "tiss", policy.BuiltIns, m, j); a.Kind() != job.KindFail {
			t.Fatalf("answered %s, want an incident", a.Kind())
		}
	}
	want{"policy": "night"}.check(t, byPolicy(t, "tiss", policies(t, "  - {name: night, extends: tiss}\n"), m, j))
}
