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
	"hospital.example/analyze-retry/internal/policy"
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
	var err error
	a.policies, err = policy.Open(file)
	check.Must(t, err)
	a.doubtPolicies()
	check.Same(t, 0, logs.Len(), "lines about a good file")

	write("ERRO")
	a.reload()
	said := logs.FilterMessage("policies_doubtful").All()
	if len(said) != 1 || said[0].Level != zapcore.WarnLevel {
		t.Fatalf("logged %v", logs.All())
	}
	findings := said[0].ContextMap()["findings"].([]any)
	for _, want := range []string{"policy unimed, rule unimed.all: 79 of 495 known texts change class, from TRANSIENT", "transient.CONNECTION_ERROR"} {
		if !strings.Contains(findings[0].(string), want) {
			t.Errorf("%q is not said: %v", want, findings)
		}
	}
}
