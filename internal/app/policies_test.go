package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestReloadSaysWhatIsDoubtful(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	write := func(word string) {
		text := "policies: [{name: unimed, extends: tiss, rules: [{id: unimed.all, class: PERMANENT, contains: [" + word + "]}]}]\n"
		check.Must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write("CONTRATO XPTO")
	core, logs := observer.New(zapcore.InfoLevel)
	a := &App{
		cfg:     config.Config{Worker: config.Worker{Policies: config.Policies{PoliciesFile: file}}},
		log:     zap.New(core),
		numbers: metrics.New(prometheus.NewRegistry(), policy.BuiltIns().All()),
	}
	set, err := policy.Open(policy.Source{File: file})
	check.Must(t, err)
	a.policies.Store(set)
	a.doubtPolicies()
	check.Same(t, 0, logs.Len(), "lines about a good file")

	write("ERRO")
	a.reload()
	said := logs.FilterMessage("policies_doubtful").All()
	if len(said) != 1 || said[0].Level != zapcore.WarnLevel {
		t.Fatalf("logged %v", logs.All())
	}
	findings := said[0].ContextMap()["findings"].([]any)
	for _, want := range []string{"known texts change class, from TRANSIENT", "transient.CONNECTION_ERROR"} {
		if !strings.Contains(findings[0].(string), want) {
			t.Errorf("%q is not said: %v", want, findings)
		}
	}
}

func TestABrokenFileLeavesThePoliciesInForce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	core, logs := observer.New(zapcore.InfoLevel)
	a := &App{
		cfg:     config.Config{Worker: config.Worker{Policies: config.Policies{PoliciesFile: file}}},
		log:     zap.New(core),
		numbers: metrics.New(prometheus.NewRegistry(), policy.BuiltIns().All()),
	}
	inForce := policy.BuiltIns()
	a.policies.Store(inForce)
	a.reload()
	check.Must(t, os.WriteFile(file, []byte("policies: ["), 0o600))
	a.reload()
	if failed := logs.FilterMessage("policies_reload_failed"); failed.Len() != 2 || a.policies.Load() != inForce {
		t.Errorf("logged %v", logs.All())
	}
	check.Must(t, os.WriteFile(file, []byte("policies: [{name: ours, extends: tiss}]"), 0o600))
	a.reload()
	_, known := a.policies.Load().Get("ours")
	check.Same(t, true, known, "policy of the mended file")
}
