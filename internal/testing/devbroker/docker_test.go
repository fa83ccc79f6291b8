package devbroker

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// fakeDocker puts a docker on the PATH whose engine answers and whose containers run a script. It returns the file in
// which every call leaves a line.
func fakeDocker(t *testing.T, container string) (calls string) {
	t.Helper()
	calls = filepath.Join(t.TempDir(), "calls")
	onlyPrograms(t, map[string]string{"docker": `
		echo "$*" >>"` + calls + `"
		case $1 in
		image) exit 1 ;;
		run) ` + container + ` ;;
		esac`})
	t.Setenv(EnvCache, t.TempDir())
	return calls
}

func TestWithoutMavenABrokerRunsInAContainerOnLoopback(t *testing.T) {
	calls := fakeDocker(t, `echo "a first word"; echo "the disk is full"; exit 7`)
	dir := t.TempDir()
	free, err := pickPorts(0, 0, 0)
	check.Must(t, err)
	_, err = Start(t.Context(), Options{
		Version: "8.6.0", Dir: dir, GatewayPort: free.Gateway, MonitoringPort: free.Monitoring, RESTPort: free.REST, Records: true,
		Settings: []string{"ZEEBE_BROKER_BACKPRESSURE_ALGORITHM=fixed"},
	})
	if err == nil {
		t.Fatal("the container ended at once, but there is no error")
	}
	for _, part := range []string{"ended before it was ready", "exit status 7", filepath.Join(dir, "broker.log"), "the disk is full"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	gateway, monitoring, rest := strconv.Itoa(free.Gateway), strconv.Itoa(free.Monitoring), strconv.Itoa(free.REST)
	name := "analyze-retry-" + filepath.Base(dir) + "-" + gateway
	got := strings.Split(strings.TrimSpace(read(t, calls)), "\n")
	for i, prefix := range []string{
		"info", "image inspect camunda/zeebe:8.6.0", "pull --quiet camunda/zeebe:8.6.0", "rm --force " + name,
		"run --rm --name " + name + " ", "rm --force " + name,
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], prefix) {
			t.Fatalf("call %d is not %q in\n%s", i, prefix, strings.Join(got, "\n"))
		}
	}
	run := got[4]
	for _, part := range []string{
		"--publish 127.0.0.1:" + gateway + ":" + gateway + " ", "--publish 127.0.0.1:" + monitoring + ":" + monitoring + " ",
		"--publish 127.0.0.1:" + rest + ":" + rest + " ", "--env SERVER_PORT=" + rest + " ",
		"--volume " + dir + ":/devbroker ",
		"--env ZEEBE_BROKER_DATA_DIRECTORY=/devbroker/data ", "--env LOGGING_CONFIG=/devbroker/log4j2.xml ",
		"--env ZEEBE_BROKER_GATEWAY_NETWORK_HOST=0.0.0.0 ", "--env ZEEBE_BROKER_GATEWAY_NETWORK_PORT=" + gateway + " ",
		"--env MANAGEMENT_SERVER_PORT=" + monitoring + " ", "--env ZEEBE_CLOCK_CONTROLLED=true ", "DebugLogExporter ",
		"--env ZEEBE_BROKER_BACKPRESSURE_ALGORITHM=fixed ",
	} {
		if !strings.Contains(run, part) {
			t.Errorf("%q is missing in\n%s", part, run)
		}
	}
	if !strings.HasSuffix(run, " camunda/zeebe:8.6.0") || strings.Count(run, "--publish") != 3 {
		t.Errorf("got %s", run)
	}
}
