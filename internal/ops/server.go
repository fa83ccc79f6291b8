// Package ops serves what operations look at: /metrics for Prometheus, /healthz and /readyz for probes, and, at an address
// of its own, profiles of the process.
package ops

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof" // it also registers with the default mux, which nothing here serves
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// mostConnections bounds the memory of connections: less than 26 KB each, 46 KB with TLS. It is far above what scrapers and
// probes need, and above the 1,000 that a single host opens with its usual limit of files.
const mostConnections = 1100

// ownDescriptors are reserved for the worker itself, which needs some 30 for its store, the gateway and the queue.
const ownDescriptors = 256

// connections returns how many connections a server keeps in a process with a limit of open files: at most most, and all but
// ownDescriptors, or a quarter of a low limit.
func connections(most, limit int) int { return min(most, max(limit-ownDescriptors, limit/4)) }

// Server is an HTTP server for operations.
type Server struct {
	what     string // it serves, for errors
	listener net.Listener
	server   *http.Server
}

// purpose is what a server is for.
type purpose struct {
	what    string // it serves, for errors
	setting string // the variable to change where its address cannot be bound
	most    int    // connections
}

// listen binds an address.
func listen(p purpose, address string, handler http.Handler, log *zap.Logger) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve %s: %w; set %s to a free address", p.what, err, p.setting)
	}
	faults, err := zap.NewStdLogAt(log.Named("http").WithOptions(zap.WrapCore(withoutHandshakes)), zap.WarnLevel)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("serve %s: %w", p.what, err), listener.Close())
	}
	return &Server{
		what:     p.what,
		listener: &fair{Listener: listener, most: connections(p.most, descriptors())},
		server: &http.Server{
			Handler:           handler,
			ReadHeaderTimeout: 2 * time.Second, // a TLS handshake has as long
			ReadTimeout:       5 * time.Second,
			WriteTimeout:      10 * time.Second,
			IdleTimeout:       time.Minute,
			MaxHeaderBytes:    16 << 10,
			ErrorLog:          faults,
		},
	}, nil
}

// Addr returns the address that was bound, host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers requests until Close is called; then it returns nil.
func (s *Server) Serve() error {
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s on %s: %w", s.what, s.Addr(), err)
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

// handshakeless drops the lines about failed TLS handshakes, which a client can cause at will. Its own side reports them too.
type handshakeless struct{ zapcore.Core }

func withoutHandshakes(core zapcore.Core) zapcore.Core { return handshakeless{core} }

// Check adds the core to every other line.
func (h handshakeless) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if strings.HasPrefix(entry.Message, "http: TLS handshake error") {
		return checked
	}
	return h.Core.Check(entry, checked)
}

// mostProfiles bounds the connections to the profiles; one person looks at them at a time.
const mostProfiles = 16

// NewProfiles binds an address for profiles of the process, at /debug/pprof/, but serves nothing yet. It must be a loopback
// address, because profiles show what the process works on and cost CPU.
func NewProfiles(address string, log *zap.Logger) (*Server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return listen(purpose{"profiles", "RETRY_PPROF_ADDRESS", mostProfiles}, address, mux, log)
}
