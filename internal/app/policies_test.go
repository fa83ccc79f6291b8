package app

import (
	"fmt"
	"os"
	"path/filepath"
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

func TestAReloadTakesAFileThatIsInOrderAndSaysWhatIsDoubtful(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	core, logs := observer.New(zapcore.InfoLevel)
	a := &App{
		cfg:     config.Config{Policies: config.Policies{PoliciesFile: file}},
		log:     zap.New(core),
		numbers: metrics.New(prometheus.NewRegistry(), policy.BuiltIns().All()),
	}
	inForce := policy.BuiltIns()
	a.policies.Store(inForce)
	reload := func(text string) {
		check.Must(t, os.WriteFile(file, []byte(text), 0o600))
		a.reload()
	}
	reload("policies: [")
	if failed := logs.FilterMessage("policies_reload_failed"); failed.Len() != 1 || a.policies.Load() != inForce {
		t.Errorf("logged %v", logs.All())
	}
	const ours = "policies: [{name: ours, extends: tiss, rules: [{id: ours.all, class: PERMANENT, contains: [%s]}]}]"
	reload(fmt.Sprintf(ours, "CONTRATO XPTO"))
	_, known := a.policies.Load().Get("ours")
	check.Same(t, true, known, "policy of the mended file")
	check.Same(t, 0, logs.FilterMessage("policies_doubtful").Len(), "lines about a good file")

	reload(fmt.Sprintf(ours, "ERRO"))
	said := logs.FilterMessage("policies_doubtful").All()
	if len(said) != 1 || said[0].Level != zapcore.WarnLevel {
		t.Fatalf("logged %v", logs.All())
	}
	findings := said[0].ContextMap()["findings"].([]any)
	check.Contains(t, findings[0].(string), "known texts change class, from TRANSIENT", "transient.CONNECTION_ERROR")
}
