package cli_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/ops"
	"hospital.example/analyze-retry/internal/testing/certtest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// ready serves what a worker serves, with a token and by TLS, and returns the settings of that worker.
func ready(t *testing.T, reason error) *archive {
	t.Helper()
	const token = "0123456789abcdef"
	certificate, key := certtest.Files(t)
	server, err := ops.New(ops.Options{
		Address: "127.0.0.1:0", Token: token, CertificatePath: certificate, KeyPath: key,
		Metrics: prometheus.NewRegistry(), Ready: func(context.Context) error { return reason }, Logger: zap.NewNop(),
	})
	check.Must(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() { check.Must(t, errors.Join(server.Close(context.Background()), <-served)) })
	_, port, _ := strings.Cut(server.Addr(), ":")
	return with("RETRY_HTTP_ADDRESS=:"+port, "RETRY_HTTP_TOKEN="+token, "RETRY_HTTP_TLS_CERTIFICATE_PATH="+certificate, "RETRY_HTTP_TLS_KEY_PATH="+key)
}

func TestReadyAsksTheRunningWorker(t *testing.T) {
	is := ready(t, nil)
	if got := is.must(t, "ready"); got != "ready\n" {
		t.Errorf("got %q", got)
	}
	if got := is.must(t, "ready", "--json"); got != "{\n  \"ready\": true\n}\n" {
		t.Errorf("got %s", got)
	}
	isNot := ready(t, errors.New("the gateway is away"))
	isNot.fails(t, 1, "worker: not ready: the gateway is away\n", "ready")
	code, stdout, _ := isNot.run(t, "ready", "--json")
	if code != 1 || stdout != "{\n  \"ready\": false,\n  \"reason\": \"not ready: the gateway is away\"\n}\n" {
		t.Errorf("exit code %d, output %s", code, stdout)
	}
}

func TestReadyNamesWhyThereIsNoAnswer(t *testing.T) {
	with("RETRY_HTTP_ADDRESS=127.0.0.1:1").fails(t, 1, "no worker answers at 127.0.0.1:1", "ready")
	with("RETRY_HTTP_ADDRESS=127.0.0.1:0").fails(t, 1, "worker_started, httpAddress", "ready")
	ready(t, nil).fails(t, 1, "within 1ns", "ready", "--timeout", "1ns")
	with().fails(t, 2, "--timeout is 0s", "ready", "--timeout", "0s")
}
