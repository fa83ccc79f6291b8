//go:build servers

package compose_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/deploy/deploytest"
)

func TestPrometheusTakesItsConfigurationAndFindsTheRules(t *testing.T) {
	p := load(t, all)
	s := p.Services["prometheus"]
	if slices.ContainsFunc(s.Command, func(arg string) bool { return strings.Contains(arg, "native-histograms") }) {
		t.Error("with native histograms Prometheus drops the bounds, which rules and dashboard read")
	}
	text, err := os.ReadFile(mounted(t, s, "/etc/prometheus/prometheus.yml"))
	if err != nil {
		t.Fatal(err)
	}
	rules := mounted(t, s, "/etc/prometheus/rules")
	found, err := filepath.Glob(rules + "/*.rules.yml")
	if err != nil || len(found) == 0 {
		t.Fatalf("no rules in %s: %v", rules, err)
	}
	// The same file with the paths of this machine.
	here := strings.NewReplacer("/etc/prometheus/rules", rules, "/run/secrets/http-token", p.Secrets["http-token"].File).Replace(string(text))
	file := filepath.Join(t.TempDir(), "prometheus.yml")
	deploytest.Write(t, file, here)
	out, err := deploytest.Run(t, ".", "promtool", "check", "config", file)
	if err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
	for _, rule := range found {
		if !strings.Contains(out, rule) {
			t.Errorf("the rules in %s are not loaded:\n%s", rule, out)
		}
	}
}
