package tracing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/testing/check"
)

// open makes a tracer in an environment, NAME=VALUE, and closes it with the test.
func open(t *testing.T, environment ...string) (*Tracer, *observer.ObservedLogs, error) {
	t.Helper()
	variables := map[string]string{}
	for _, setting := range environment {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
		variables[name] = value
	}
	core, logs := observer.New(zapcore.DebugLevel)
	tracer, err := New(t.Context(), Options{Worker: "worker-1", Version: "v1", Environment: variables, Logger: zap.New(core)})
	if err == nil {
		t.Cleanup(func() { _ = tracer.Close() })
	}
	return tracer, logs, err
}

const nobody = "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"

func TestAWrongValueIsAFaultThatNamesItsVariable(t *testing.T) {
	noPEM := filepath.Join(t.TempDir(), "no.pem")
	check.Must(t, os.WriteFile(noPEM, []byte("nothing"), 0o600))
	for _, wrong := range []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4317", "OTEL_EXPORTER_OTLP_ENDPOINT=http://", "OTEL_EXPORTER_OTLP_ENDPOINT=ftp://a",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://maria:s3cret@a:4318", "OTEL_EXPORTER_OTLP_ENDPOINT=http://a b",
		"OTEL_EXPORTER_OTLP_ENDPOINT=https://a/otlp?key=s3cret",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=a", "OTEL_SDK_DISABLED=yes", "OTEL_TRACES_EXPORTER=zipkin",
		"OTEL_EXPORTER_OTLP_PROTOCOL=thrift", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http", "OTEL_EXPORTER_OTLP_INSECURE=1",
		"OTEL_EXPORTER_OTLP_INSECURE=false", "OTEL_EXPORTER_OTLP_HEADERS=s3cret", "OTEL_EXPORTER_OTLP_HEADERS=a b=s3cret",
		"OTEL_EXPORTER_OTLP_HEADERS=a=%zzs3cret", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=a=1,b=s3cret%0Ax",
		"OTEL_EXPORTER_OTLP_COMPRESSION=zstd", "OTEL_EXPORTER_OTLP_TIMEOUT=10s", "OTEL_EXPORTER_OTLP_TIMEOUT=0",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=missing.pem", "OTEL_EXPORTER_OTLP_CERTIFICATE=" + noPEM,
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=" + noPEM, "OTEL_TRACES_SAMPLER=sometimes", "OTEL_TRACES_SAMPLER_ARG=2",
		"OTEL_TRACES_SAMPLER_ARG=many", "OTEL_RESOURCE_ATTRIBUTES=service.name", "OTEL_BSP_SCHEDULE_DELAY=5s",
		"OTEL_BSP_MAX_QUEUE_SIZE=-1", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=x",
	} {
		t.Run(wrong, func(t *testing.T) {
			name, _, _ := strings.Cut(wrong, "=")
			_, _, err := open(t, nobody, wrong)
			if err == nil || strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), name) && !strings.HasPrefix(err.Error(), "OTEL_EXPORTER_OTLP_CLIENT_KEY") {
				t.Fatalf("New = %v, want one fault that names %s", err, name)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the fault tells the secret: %v", err)
			}
		})
	}
}

func TestAllFaultsAreReportedAtOnce(t *testing.T) {
	_, _, err := open(t, nobody, "OTEL_TRACES_SAMPLER=x", "OTEL_BSP_EXPORT_TIMEOUT=x", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION=x")
	if err == nil || len(strings.Split(err.Error(), "\n")) != 3 {
		t.Errorf("New = %v, want three faults", err)
	}
}

func TestWhatOpenTelemetryAllowsIsTaken(t *testing.T) {
	for _, right := range [][]string{
		{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_EXPORTER_OTLP_INSECURE=TRUE"},
		{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=a=b,c=d%20e", "OTEL_TRACES_EXPORTER=otlp"},
		{"OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.25", "OTEL_EXPORTER_OTLP_TIMEOUT=500"},
		{"OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test,a=b%2Cc", "OTEL_SERVICE_NAME=retries", "OTEL_SDK_DISABLED=false"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://collector.example/v1/traces", "OTEL_EXPORTER_OTLP_INSECURE=false"},
	} {
		tracer, logs, err := open(t, append([]string{nobody}, right...)...)
		if err != nil || tracer.tracer == nil || logs.FilterMessage("tracing_on").Len() != 1 {
			t.Errorf("%v: New = %v", right, err)
		}
		for _, setting := range right {
			name, _, _ := strings.Cut(setting, "=")
			t.Setenv(name, "")
		}
	}
}

func TestOtherVariablesAreIgnoredWhileTracingIsOff(t *testing.T) {
	for _, off := range [][]string{
		{"OTEL_TRACES_SAMPLER=x"},
		{nobody, "OTEL_SDK_DISABLED=True", "OTEL_TRACES_SAMPLER=x"},
		{nobody, "OTEL_TRACES_EXPORTER=none", "OTEL_EXPORTER_OTLP_PROTOCOL=x"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT= ", "OTEL_EXPORTER_OTLP_HEADERS=x"},
	} {
		t.Run(strings.Join(off, " "), func(t *testing.T) {
			if tracer, _, err := open(t, off...); err != nil || tracer.tracer != nil {
				t.Errorf("New = %v, want a tracer that is off", err)
			}
		})
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
