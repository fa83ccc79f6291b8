package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRecordsAreFoundInABrokersLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.log")
	check.Must(t, os.WriteFile(path, []byte(`2026-11-24 10:00:00 [Broker-0] INFO io.camunda.zeebe.broker.system - Starting {not JSON}
2026-11-24 10:00:01 [Broker-0] INFO exporter.debug - {"partitionId":1,"key":7,"position":3,"valueType":"JOB","intent":"CREATED"}
{"position":4,"valueType":"CLOCK","value":{"type":1}}
{"position":3,"valueType":"JOB","intent":"CREATED"}
{"level":"info"}
{"position":5,"valueType":"JOB"`), 0o600))
	l := recordLog{path: path}
	all, err := l.upTo()
	check.Must(t, err)
	if len(all) != 2 || all[0].Key != 7 || all[1].Position != 4 {
		t.Errorf("found %+v", all)
	}
}

func TestWhatIsMissingToUseAClusterIsNamed(t *testing.T) {
	t.Setenv(EnvAddress, "")
	if c, err := FromEnv(); c != nil || err != nil {
		t.Errorf("without a cluster: %v, %v", c, err)
	}
	t.Setenv(EnvAddress, "127.0.0.1:26500")
	t.Setenv("ZEEBE_REST_ADDRESS", "http://127.0.0.1:8080")
	t.Setenv("ZEEBE_TEST_MONITORING", "")
	_, err := FromEnv()
	check.Fails(t, err, "set ZEEBE_TEST_MONITORING too")
}
