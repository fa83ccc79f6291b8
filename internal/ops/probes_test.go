package ops

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
)

func TestWithoutATokenOnlyThisHostGetsTheReason(t *testing.T) {
	p := &probes{Options: Options{Ready: func(context.Context) error { return errors.New("gateway zeebe:26500 away") }}}
	for peer, want := range map[string]string{
		"127.0.0.1:40000":          "not ready: gateway zeebe:26500 away\n",
		"[::1]:40000":              "not ready: gateway zeebe:26500 away\n",
		"[::ffff:127.0.0.1]:40000": "not ready: gateway zeebe:26500 away\n",
		"10.0.0.1:40000":           "not ready\n",
		"[fe80::1%eth0]:40000":     "not ready\n",
		"":                         "not ready\n",
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil)
		r.RemoteAddr = peer
		r.Header.Set("X-Forwarded-For", "127.0.0.1") // anybody can say so
		p.readyz(w, r)
		if w.Code != 503 || w.Body.String() != want {
			t.Errorf("%q got %d %q, want %q", peer, w.Code, w.Body, want)
		}
	}
}

func TestConcurrentReadinessRequestsCostOneCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int64
		release := make(chan struct{})
		p := &probes{Options: Options{Ready: func(context.Context) error {
			checks.Add(1)
			<-release
			return nil
		}}}
		answers := make(chan error)
		for range 20 {
			go func() { answers <- p.ready(t.Context()) }()
		}
		synctest.Wait()
		close(release)
		for range 20 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if n := checks.Load(); n != 1 {
			t.Errorf("%d checks", n)
		}
	})
}

// stuck is a reader who takes nothing of an answer until he is let go.
type stuck struct {
	*httptest.ResponseRecorder
	let chan struct{}
}

func (s stuck) Write(page []byte) (int, error) {
	<-s.let
	return len(page), nil
}

func TestStalledReadersDoNotBlockScrapes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		metrics := prometheus.NewRegistry()
		metrics.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "seen_total", Help: "Test."}))
		handler := (&probes{Options: Options{Metrics: metrics, Refresh: func() {}}}).handler()
		request := func() *http.Request { return httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil) }
		let := make(chan struct{})
		for range 20 {
			go handler.ServeHTTP(stuck{httptest.NewRecorder(), let}, request())
		}
		synctest.Wait()
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, request()); w.Code != 200 {
			t.Errorf("a scrape beside them got %d %q", w.Code, w.Body)
		}
		close(let)
		synctest.Wait()
	})
}
