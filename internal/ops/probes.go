package ops

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
	"golang.org/x/sync/singleflight"

	"hospital.example/analyze-retry/internal/readfile"
)

const (
	// readyTimeout bounds a readiness check. It is below the one second that Kubernetes gives a probe by default, so that
	// the probe gets an answer with a reason.
	readyTimeout = 900 * time.Millisecond
	// scrapeTimeout bounds how long the metrics may be gathered for; a scrape takes milliseconds.
	scrapeTimeout = 5 * time.Second
)

// Options configure the server for metrics and probes.
type Options struct {
	// Address is host:port, where port 0 means any free one.
	Address string
	// Token is the bearer token for /metrics and the reasons of /readyz; empty where they are open.
	Token string
	// CertificatePath and KeyPath are PEM files to serve TLS with; empty for plaintext. They are read for each connection, so
	// that a certificate can be renewed without a restart.
	CertificatePath, KeyPath string
	// Metrics are what /metrics shows.
	Metrics prometheus.Gatherer
	// Ready returns why the worker is not ready, nil where it is. Its context ends after readyTimeout. It is not called
	// concurrently.
	Ready func(context.Context) error
	// Logger gets the errors of the server itself.
	Logger *zap.Logger
}

// probes answers requests for metrics and probes.
type probes struct {
	Options
	token  [sha256.Size]byte
	flight singleflight.Group
}

// New binds the address of a server for metrics and probes, but serves nothing yet.
func New(o Options) (*Server, error) {
	p := &probes{Options: o, token: sha256.Sum256([]byte(o.Token))}
	server, err := listen(o.Address, p.handler(), o.Logger)
	if err != nil || o.CertificatePath == "" {
		return server, err
	}
	certificate := &certificate{path: o.CertificatePath, keyPath: o.KeyPath}
	if _, err := certificate.get(nil); err != nil {
		return nil, errors.Join(err, server.listener.Close())
	}
	server.listener = tls.NewListener(server.listener, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.get})
	return server, nil
}

// handler returns the handler of all paths.
func (p *probes) handler() http.Handler {
	scrape := promhttp.HandlerFor(p.Metrics, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
	mux := http.NewServeMux()
	// The time-out handler sends the page when it is complete, so that a reader who takes none of it does not count as a
	// scrape in flight.
	mux.Handle("GET /metrics", p.guard(http.TimeoutHandler(scrape, scrapeTimeout, "the metrics take too long\n")))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { line(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", p.readyz)
	return mux
}

// guard refuses requests without the token, where there is one.
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

// shown reports whether a request shows the token, in a time that does not depend on the token.
func (p *probes) shown(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], p.token[:]) == 1
}

// readyz answers whether the worker is ready. Reasons name hosts and repeat errors, so they are only for requests with the token
// or, without one, from this host. Probes, which cannot show a secret, need no reason.
func (p *probes) readyz(w http.ResponseWriter, r *http.Request) {
	err := p.ready(r.Context())
	explain := p.Token != "" && p.shown(r) || p.Token == "" && fromHere(r)
	switch {
	case err == nil:
		line(w, http.StatusOK, "ready")
	case explain:
		line(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
	default:
		line(w, http.StatusServiceUnavailable, "not ready")
	}
}

// ready checks whether the worker is ready, once for all requests at the same time, so that requests here cannot flood the
// gateway, which each check calls.
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
		return ctx.Err() // the client is gone
	}
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

// certificate is the server's certificate with its key, in files.
type certificate struct {
	path, keyPath string
	last          atomic.Pointer[tls.Certificate]
}

// get reads the files for each handshake, which takes longer than that. While the pair is being replaced and its halves do not
// fit, it returns the last pair that did.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	pair, err := readfile.Pair(c.path, c.keyPath)
	if err == nil {
		c.last.Store(&pair)
		return &pair, nil
	}
	if last := c.last.Load(); last != nil {
		return last, nil
	}
	return nil, fmt.Errorf("RETRY_HTTP_TLS_CERTIFICATE_PATH, RETRY_HTTP_TLS_KEY_PATH: %w", err)
}
