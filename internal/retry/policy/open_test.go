package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

// settings is where the numbers of tiss come from if they replace its own.
const settings = "RETRY_MAX_RETRIES and RETRY_*_BACKOFF_MINUTES"

func TestNumbersOfSettingsStandBeforeTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, file, "policies: [{name: ours, extends: tiss, max: 30m}]")
	numbers := retry.Settings{MaxRetries: 3, Base: retry.Duration(10 * time.Minute), Max: retry.Duration(time.Hour)}
	for range 2 { // as a worker reads it again
		set, err := policy.Open(file, numbers, "tiss")
		check.Must(t, err)
		tiss, _ := set.Get("tiss")
		check.Same(t, []any{3, numbers.Base, numbers.Base, numbers.Max}, []any{tiss.MaxRetries, tiss.Base, tiss.Min, tiss.Max}, "numbers of tiss")
		check.Same(t, len(policy.BuiltIn("tiss").Rules), len(tiss.Rules), "rules of tiss")
		check.Same(t, settings, set.Origin("tiss"), "origin of tiss")
		ours, _ := set.Get("ours")
		check.Same(t, []any{3, numbers.Base, retry.Duration(30 * time.Minute)}, []any{ours.MaxRetries, ours.Base, ours.Max}, "numbers of what extends it")
	}
	check.Same(t, 5, policy.BuiltIn("tiss").MaxRetries, "retries of the built-in one")
}

func TestNumbersThatDoNotFitAreRefusedWithTheirReason(t *testing.T) {
	_, err := policy.Open("", retry.Settings{Base: retry.Duration(5 * time.Hour)})
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
	_, err := policy.Open(file, retry.Settings{})
	check.Fails(t, err, file, "no such file")
	for _, broken := range []string{"policies: [", "policies: [{name: a, base: 1 hour}]", "", "# " + strings.Repeat("x", 1<<20) + hourly} {
		write(t, file, broken)
		_, err := policy.Open(file, retry.Settings{})
		check.Fails(t, err, file)
	}
}

func TestNeededPolicyMustBeThere(t *testing.T) {
	_, err := policy.Open("", retry.Settings{}, "tiss", "hourly")
	check.Fails(t, err, "RETRY_JOB_TYPES: there is no policy hourly")
}
