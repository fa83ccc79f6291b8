//go:build servers

package prometheus_test

import (
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/deploy/deploytest"
)

// promtool runs the program of that name in this directory.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := deploytest.Run(t, ".", "promtool", args...); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestTheRulesAreValid(t *testing.T) {
	promtool(t, append([]string{"check", "rules", "--lint-fatal"}, files(t, "*.rules.yml")...)...)
}

func TestTheAlertsFireAndAreSilentWhenTheyShould(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "*.rules.test.yml") {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			promtool(t, "test", "rules", file)
		})
	}
}

func TestTheExampleIsValid(t *testing.T) {
	dir := t.TempDir()
	for _, file := range append(files(t, "*.rules.yml"), "scrape.example.yml") {
		deploytest.Write(t, filepath.Join(dir, file), deploytest.Read(t, "deploy/prometheus/"+file))
	}
	deploytest.Write(t, filepath.Join(dir, "http-token"), "0123456789abcdef")
	promtool(t, "check", "config", filepath.Join(dir, "scrape.example.yml"))
}
