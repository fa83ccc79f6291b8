//go:build servers

package prometheus_test

import (
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/deploy/deploytest"
)

func TestAlertsFireAndAreSilentWhenTheyShould(t *testing.T) {
	for _, args := range [][]string{
		{"check", "rules", "--lint-fatal", "analyze-retry.rules.yml"},
		{"test", "rules", "analyze-retry.rules.test.yml"},
	} {
		if out, err := deploytest.Run(t, ".", "promtool", args...); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

func TestTheScrapeExampleIsValid(t *testing.T) {
	example := t.TempDir()
	for _, file := range []string{"analyze-retry.rules.yml", "scrape.example.yml"} {
		deploytest.Write(t, filepath.Join(example, file), deploytest.Read(t, dir+file))
	}
	deploytest.Write(t, filepath.Join(example, "http-token"), "0123456789abcdef")
	if out, err := deploytest.Run(t, example, "promtool", "check", "config", "scrape.example.yml"); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}
