package ops

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/singleflight"

	"hospital.example/analyze-retry/internal/connurl"
)

const (
	// readyTimeout bounds a readiness check. It is below the second that Kubernetes gives a probe by default, so
	// that the probe gets an answer with a reason.
	readyTimeout = 900 * time.Millisecond
	// scrapeTimeout bounds how long the metrics may be gathered for; a scrape takes milliseconds.
	scrapeTimeout = 5 * time.Second
)

// probes answers requests for metrics and probes.
type probes struct {
	Options
	flight singleflight.Group
}

// handler returns the handler of all paths.
func (p *probes) handler() http.Handler {
	// The time-out handler sends the page when it is complete, so that a reader who takes none of it does not
	// count as a scrape in flight.
	scrape := http.TimeoutHandler(promhttp.HandlerFor(p.Metrics, promhttp.HandlerOpts{MaxRequestsInFlight: 4}),
		scrapeTimeout, "the metrics take too long\n")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if p.Token != "" && !p.shown(r) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="analyze-retry"`)
			line(w, http.StatusUnauthorized, "the bearer token is missing or wrong: RETRY_HTTP_TOKEN has it")
			return
		}
		scrape.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { line(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", p.readyz)
	return mux
}

// onlyHere answers only who asks for this host by a loopback name. A page in a browser here, whose own name
// its owner has pointed to loopback, must read nothing.
func onlyHere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := url.URL{Host: r.Host}
		if !connurl.IsLoopback(strings.ToLower(asked.Hostname())) {
			line(w, http.StatusMisdirectedRequest, "this worker listens on loopback only: ask for localhost, "+
				"127.0.0.1 or [::1], or set RETRY_HTTP_ADDRESS to an address that others reach")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// shown reports whether a request shows the token, in a time that does not depend on the token.
func (p *probes) shown(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(p.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// readyz answers whether the worker is ready. Reasons name hosts and repeat errors, so they are only for
// requests with the token or, without one, from this host. Probes, which cannot show a secret, need no
// reason.
func (p *probes) readyz(w http.ResponseWriter, r *http.Request) {
	err := p.ready(r.Context())
	switch {
	case err == nil:
		line(w, http.StatusOK, "ready")
	case p.Token != "" && p.shown(r) || p.Token == "" && fromHere(r):
		line(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
	default:
		line(w, http.StatusServiceUnavailable, "not ready")
	}
}

// ready checks whether the worker is ready, once for all requests at the same time, so that requests here
// cannot flood the gateway, which each check calls.
func (p *probes) ready(ctx context.Context) error {
	_, err, _ := p.flight.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
		defer cancel()
		return nil, p.Ready(ctx)
	})
	return err
}

// fromHere reports whether a request comes from this host.
func fromHere(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback()
}

// line answers with one line of plain text.
func line(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// Errors of other libraries may contain line breaks. The client may be gone, which is no error here.
	_, _ = io.WriteString(w, strings.Join(strings.Fields(text), " ")+"\n")
}
