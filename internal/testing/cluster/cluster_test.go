package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRecordsAreFoundInABrokersLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.log")
	check.Must(t, os.WriteFile(path, []byte(`2026-11-24 10:00:00 [Broker-0] INFO io.camunda.zeebe.broker.system - Starting {not JSON}
2026-11-24 10:00:01 [Broker-0] INFO exporter.debug - {"partitionId":1,"key":7,"position":3,"valueType":"JOB","intent":"CREATED"}
{"position":4,"valueType":"JOB","intent":"COMPLETED"}
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
	for _, name := range []string{EnvAddress, EnvREST, EnvMonitoring, EnvRecords} {
		t.Setenv(name, "")
	}
	c, err := FromEnv()
	if c != nil || err != nil {
		t.Errorf("without a cluster: %v, %v", c, err)
	}
	t.Setenv(EnvAddress, "127.0.0.1:26500")
	t.Setenv(EnvREST, "http://127.0.0.1:8080")
	_, err = FromEnv()
	check.Fails(t, err, EnvMonitoring, EnvRecords)
	if strings.Contains(err.Error(), EnvREST) {
		t.Errorf("the error names what is there: %v", err)
	}
}

func TestTheClockOfAKilledClusterIsWhereItWas(t *testing.T) {
	c, err := Start(Options{})
	check.Must(t, err)
	defer func() { check.Must(t, c.Stop()) }()
	moved, err := c.Advance(t.Context(), 48*time.Hour)
	check.Must(t, err)
	_, err = c.server.Do(&pb.PublishMessageRequest{Name: "m"})
	check.Must(t, err)
	before, err := c.Records()
	check.Must(t, err)
	check.Must(t, c.Kill())
	check.Must(t, c.Restart())
	now, err := c.Now(t.Context())
	check.Must(t, err)
	if now.Before(moved) {
		t.Errorf("the clock shows %v, before %v", now, moved)
	}
	after, err := c.Records()
	check.Must(t, err)
	check.Same(t, len(before), len(after), "records")
	if _, err := c.Advance(t.Context(), -time.Hour); err == nil {
		t.Error("the clock went back")
	}
}
