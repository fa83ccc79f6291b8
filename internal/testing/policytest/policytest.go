// Package policytest reads policies for tests.
package policytest

import (
	"os"
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

// Set returns the built-in policies and those of a file of this content.
func Set(tb testing.TB, content string) *policy.Set {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "policies.yaml")
	check.Must(tb, os.WriteFile(file, []byte(content), 0o600))
	set, err := policy.Open(file, retry.Settings{})
	check.Must(tb, err)
	return set
}
