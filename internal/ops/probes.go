package ops

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
	"golang.org/x/sync/singleflight"
)

const (
	// readyTimeout bounds a readiness check. Kubernetes gives a probe one second unless it is told otherwise, and an
	// answer with a reason is worth more than a probe that timed out.
	readyTimeout = 900 * time.Millisecond
	// scrapeTimeout bounds how long the metrics may be gathered for; a scrape takes milliseconds.
	scrapeTimeout = 5 * time.Second
)

// Options are what the server for metrics and probes needs.
type Options struct {
	// Address is host:port, where port 0 means any free one.
	Address string
	// Token is what /metrics and the reasons of /readyz are shown for; empty where they are open.
	Token string
	// CertificatePath and KeyPath are PEM files to serve TLS with; empty where it is plaintext. They are read anew for each
	// connection, so that a certificate can be renewed without a restart.
	CertificatePath, KeyPath string
	// Metrics are what /metrics shows.
	Metrics prometheus.Gatherer
	// Ready says why the worker is not ready, nil where it is. Its context ends after readyTimeout. It may be called at any
	// time, but only once at a time.
	Ready func(context.Context) error
	// Logger gets what goes wrong inside of the server.
	Logger *zap.Logger
}

// probes is what the server for metrics and probes answers.
type probes struct {
	Options
	token  [sha256.Size]byte
	flight singleflight.Group
}

// New binds the address, but serves nothing yet.
func New(o Options) (*Server, error) {
	p := &probes{Options: o, token: sha256.Sum256([]byte(o.Token))}
	certificate := &certificate{path: o.CertificatePath, keyPath: o.KeyPath}
	if o.CertificatePath != "" {
		if _, err := certificate.get(nil); err != nil {
			return nil, err
		}
	}
	server, err := listen(purpose{"metrics and probes", "RETRY_HTTP_ADDRESS", mostConnections}, o.Address, p.handler(), o.Logger)
	if err != nil {
		return nil, err
	}
	if o.CertificatePath != "" {
		server.listener = tls.NewListener(server.listener, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.get})
	}
	return server, nil
}

// handler answers all paths.
func (p *probes) handler() http.Handler {
	scrape := promhttp.HandlerFor(p.Metrics, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
	mux := http.NewServeMux()
	// The time-out handler sends the page when it is whole: a reader who takes none of it holds no place among the scrapes
	// in flight.
	mux.Handle("GET /metrics", p.guard(http.TimeoutHandler(scrape, scrapeTimeout, "the metrics take too long\n")))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { line(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", p.readyz)
	return mux
}

// guard answers only who shows the token, where there is one.
func (p *probes) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.Token != "" && !p.shown(r) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="analyze-retry"`)
			line(w, http.StatusUnauthorized, "the bearer token is missing or wrong: RETRY_HTTP_TOKEN has it")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// shown reports whether a request shows the token. How long that takes tells nothing about the token.
func (p *probes) shown(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], p.token[:]) == 1
}

// readyz answers whether the worker is ready. Reasons name hosts and say what errors say, so they are not for everybody:
// probes, which cannot bring a secret, need none.
func (p *probes) readyz(w http.ResponseWriter, r *http.Request) {
	err := p.ready(r.Context())
	switch {
	case err == nil:
		line(w, http.StatusOK, "ready")
	case p.Token != "" && p.shown(r), p.Token == "" && fromHere(r):
		line(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
	default:
		line(w, http.StatusServiceUnavailable, "not ready")
	}
}

// ready asks whether the worker is ready, once for all who ask at the same time: the answer costs a call to the gateway,
// which nobody is to be able to flood from here.
func (p *probes) ready(ctx context.Context) error {
	checked := p.flight.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
		defer cancel()
		return nil, p.Ready(ctx)
	})
	select {
	case result := <-checked:
		return result.Err
	case <-ctx.Done():
		return errors.New("nobody waits for the answer any more")
	}
}

// fromHere reports whether a request comes from this host.
func fromHere(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback()
}

// line answers with one line of plain text, whatever the text holds.
func line(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// The caller may be gone; there is nobody to tell.
	_, _ = io.WriteString(w, oneLine(text)+"\n")
}

// oneLine replaces line breaks, which errors of other libraries may contain.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
