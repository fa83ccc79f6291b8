// Package ops serves what operations look at: /metrics for Prometheus, /healthz and /readyz for probes.
package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// readyTimeout bounds a readiness check. Kubernetes gives a probe one second unless it is told otherwise, and an answer
// with a reason is worth more than a probe that timed out.
const readyTimeout = 900 * time.Millisecond

// Server is the HTTP server for operations.
type Server struct {
	listener net.Listener
	server   *http.Server
}

// New binds the address, host:port where port 0 means any free one, but serves nothing yet. The ready function says why
// the worker is not ready, nil where it is; its context ends after readyTimeout, and it may be called at any time.
func New(address string, metrics prometheus.Gatherer, ready func(context.Context) error) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics and probes: %w; set RETRY_HTTP_ADDRESS to a free address", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { line(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if err := ready(ctx); err != nil {
			line(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
			return
		}
		line(w, http.StatusOK, "ready")
	})
	return &Server{
		listener: listener,
		server: &http.Server{
			Handler:           mux,
			ReadHeaderTimeout: 2 * time.Second,
			ReadTimeout:       5 * time.Second,
			WriteTimeout:      10 * time.Second,
			IdleTimeout:       time.Minute,
			MaxHeaderBytes:    16 << 10,
		},
	}, nil
}

// Addr is the address that was bound, host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers requests until Close is called; then it returns nil.
func (s *Server) Serve() error {
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics and probes on %s: %w", s.Addr(), err)
	}
	return nil
}

// Close lets requests in progress finish until the context ends, then cuts them off, which is no error. It may be called
// without Serve and more than once.
func (s *Server) Close(ctx context.Context) error {
	err := s.server.Shutdown(ctx)
	if err != nil && ctx.Err() != nil {
		err = s.server.Close()
	}
	// The server knows its listener only once Serve has run.
	if closeErr := s.listener.Close(); !errors.Is(closeErr, net.ErrClosed) {
		err = errors.Join(err, closeErr)
	}
	return err
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
