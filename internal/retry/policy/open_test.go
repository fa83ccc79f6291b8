package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

// settings is where the numbers of tiss come from if they replace its own.
const settings = "RETRY_MAX_RETRIES and RETRY_*_BACKOFF_MINUTES"

func TestNumbersOfSettingsStandBeforeTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, file, "policies: [{name: ours, extends: tiss, max: 30m}]")
	source := policy.Source{File: file, MaxRetries: 3, Base: 10 * time.Minute, Max: time.Hour, Needed: []string{"tiss"}}
	for range 2 { // as a worker reads it again
		set, err := policy.Open(source)
		check.Must(t, err)
		tiss, _ := set.Get("tiss")
		check.Same(t, []any{3, source.Base, source.Base, source.Max}, []any{tiss.MaxRetries, time.Duration(tiss.Base), time.Duration(tiss.Min), time.Duration(tiss.Max)}, "numbers of tiss")
		check.Same(t, len(policy.BuiltIn("tiss").Rules), len(tiss.Rules), "rules of tiss")
		check.Same(t, settings, set.Origin("tiss"), "origin of tiss")
		ours, _ := set.Get("ours")
		check.Same(t, []any{3, source.Base, 30 * time.Minute}, []any{ours.MaxRetries, time.Duration(ours.Base), time.Duration(ours.Max)}, "numbers of what extends it")
	}
	check.Same(t, 5, policy.BuiltIn("tiss").MaxRetries, "retries of the built-in one")
}

func TestNumbersThatDoNotFitAreRefusedWithTheirReason(t *testing.T) {
	_, err := policy.Open(policy.Source{Base: 5 * time.Hour})
	if _, are := errors.AsType[text.Findings](err); !are {
		t.Errorf("%v", err)
	}
	check.Fails(t, err, settings+": policy tiss: \"max\" is 4h but must be from 5h, the longer of min and base, to 8784h")
}

func write(t *testing.T, file, content string) {
	t.Helper()
	check.Must(t, os.WriteFile(file, []byte(content), 0o600))
}

func TestAFileThatIsNotReadIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	_, err := policy.Open(policy.Source{File: file})
	check.Fails(t, err, file, "no such file")
	for _, broken := range []string{"policies: [", "policies: [{name: a, base: 1 hour}]", "", "# " + strings.Repeat("x", 1<<20) + hourly} {
		write(t, file, broken)
		_, err := policy.Open(policy.Source{File: file})
		check.Fails(t, err, file)
	}
}

func TestNeededPolicyMustBeThere(t *testing.T) {
	_, err := policy.Open(policy.Source{Needed: []string{"tiss", "hourly"}})
	check.Fails(t, err, "RETRY_JOB_TYPES: there is no policy hourly")
}
