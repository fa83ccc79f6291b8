// Package ops serves what operations look at: /metrics for Prometheus, /healthz and /readyz for probes.
package ops

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/net/netutil"
)

// mostConnections bounds the memory of connections, of which each takes less than 26 KB, 46 KB with TLS. Scrapers and probes
// need a handful.
const mostConnections = 256

// Server is an HTTP server for operations.
type Server struct {
	listener net.Listener
	server   *http.Server
}

// listen binds an address.
func listen(address string, handler http.Handler, log *zap.Logger) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics and probes: %w; set RETRY_HTTP_ADDRESS to a free address", err)
	}
	faults, err := zap.NewStdLogAt(log.Named("http").WithOptions(zap.WrapCore(withoutHandshakes)), zap.WarnLevel)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("serve metrics and probes: %w", err), listener.Close())
	}
	return &Server{
		listener: netutil.LimitListener(listener, mostConnections),
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
