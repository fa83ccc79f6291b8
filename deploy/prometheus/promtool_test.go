//go:build servers

package prometheus_test

import (
	"testing"

	"hospital.example/analyze-retry/deploy/deploytest"
)

func TestAlertsFireAndAreSilentWhenTheyShould(t *testing.T) {
	for _, args := range [][]string{
		{"check", "rules", "--lint-fatal", "analyze-retry.rules.yml"},
		{"test", "rules", "analyze-retry.rules.test.yml"},
		{"check", "config", "../compose/prometheus.yml"},
	} {
		if out, err := deploytest.Run(t, ".", "promtool", args...); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}
