package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestFaultsOfSettingsAndPoliciesAreReportedTogether(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	check.Must(t, os.WriteFile(file, []byte("policies:\n  - {name: own, extends: tiss, base: soon}\n"), 0o600))
	_, err := app.LoadConfig(config.Environment{"RETRY_POLICIES_FILE": file, "RETRY_LOG_LEVEL": "loud"})
	found, are := errors.AsType[config.FaultsError](err)
	if !are || len(found) != 2 || !strings.HasPrefix(found[0], "RETRY_LOG_LEVEL ") || !strings.HasPrefix(found[1], file+":2: policy own: base ") {
		t.Errorf("got %v, want the level, and the base with file and line", err)
	}
}

func TestAJobTypeWhosePolicyIsNotKnownIsAFaultOfItsSetting(t *testing.T) {
	_, err := app.LoadConfig(config.Environment{"RETRY_JOB_TYPES": "email-retry=nope,analyze-retry=tiss"})
	want := "RETRY_JOB_TYPES: there is no policy nope; known are fast, job-queue, smtp, smtp-dev, tiss"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
