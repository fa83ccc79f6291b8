package ops_test

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/ops"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func always() error { return nil }

// client does not keep connections, so that none is left when a test ends.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}

// options returns those of a server that is open to everybody, with one metric, on a free port.
func options(ready func() error) ops.Options {
	reg := prometheus.NewRegistry()
	reg.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "seen_total", Help: "Test."}))
	return ops.Options{Address: "127.0.0.1:0", Metrics: reg, Refresh: func() {}, Ready: ready}
}

// serve lets a server serve until the test ends, and returns its address.
func serve(t *testing.T, o ops.Options) string {
	t.Helper()
	s, err := ops.New(o)
	check.Must(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() { check.Must(t, errors.Join(s.Close(), <-served)) })
	return s.Addr()
}

// answer is a response whose body was read.
type answer struct {
	*http.Response
	body string
}

// ask asks for a URL with these headers; Host is the name that is asked for.
func ask(t *testing.T, method, url string, headers map[string]string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	check.Must(t, err)
	request.Host = headers["Host"]
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	check.Must(t, err)
	text, err := io.ReadAll(response.Body)
	check.Must(t, errors.Join(err, response.Body.Close()))
	return answer{response, string(text)}
}
