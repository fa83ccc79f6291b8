// Package ops serves what operations look at: /metrics for Prometheus, /healthz and /readyz for probes.
package ops

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/netutil"
)

// mostConnections bounds the memory of connections, of which each takes less than 26 KB.
// Scrapers and probes need a handful.
const mostConnections = 256

// Options configure the server for metrics and probes.
type Options struct {
	// Address is host:port, where port 0 means any free one. On a loopback address only those are answered
	// who ask for a loopback name.
	Address string
	// Token is the bearer token for /metrics and the reasons of /readyz; empty where they are open.
	Token string
	// Metrics are what /metrics shows, Refresh is called before they are gathered.
	Metrics prometheus.Gatherer
	Refresh func()
	// Ready returns at once why the worker is not ready, nil where it is.
	Ready func() error
}

// Server is an HTTP server for operations. Its own errors go to the standard log.
type Server struct {
	listener net.Listener
	server   *http.Server
}

// New binds the address of a server for metrics and probes, but serves nothing yet.
func New(o Options) (*Server, error) {
	listener, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics and probes: %w; set RETRY_HTTP_ADDRESS to a free address", err)
	}
	handler := o.handler()
	if bound, err := netip.ParseAddrPort(listener.Addr().String()); err == nil && bound.Addr().IsLoopback() {
		handler = onlyHere(handler)
	}
	listener = netutil.LimitListener(listener, mostConnections)
	return &Server{listener, &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 2 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
	}}, nil
}

// Addr returns the address that was bound, host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers requests until Close is called; then it returns nil.
func (s *Server) Serve() error {
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics and probes on %s: %w", s.Addr(), err)
	}
	return nil
}

// Close cuts off what is asked at the moment. It may be called without Serve and more than once.
func (s *Server) Close() error {
	defer func() { _ = s.listener.Close() }() // the server knows it only once Serve has run
	return s.server.Close()
}
