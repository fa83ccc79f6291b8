package gateway

import (
	"context"
	"net"
	"net/http"
	"sync"

	"go.uber.org/zap"
	"google.golang.org/grpc/test/bufconn"

	"hospital.example/analyze-retry/internal/testing/engine"
	"hospital.example/analyze-retry/internal/testing/process"
)

// Serve serves gRPC on a listener in the background, until Close.
func (g *Gateway) Serve(l net.Listener) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keep(l) {
		go func() { _ = g.server.Serve(l) }()
	}
}

// keep has a listener closed with the gateway, at once if that is closed. The caller holds the mutex.
func (g *Gateway) keep(l net.Listener) bool {
	if g.closed {
		_ = l.Close()
		return false
	}
	g.listeners = append(g.listeners, l)
	return true
}

// ServeREST serves the REST API on a listener in the background, until Close.
func (g *Gateway) ServeREST(l net.Listener) { g.serveHTTP(l, g.REST()) }

func (g *Gateway) serveHTTP(l net.Listener, handler http.Handler) {
	s := &http.Server{Handler: handler, ErrorLog: zap.NewStdLog(zap.NewNop())}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keep(l) {
		g.http[s] = struct{}{}
		go func() { _ = s.Serve(l) }()
	}
}

// Pipe serves gRPC in memory and returns the function that dials it, for grpc.WithContextDialer. Unlike a socket it works
// in a bubble of testing/synctest.
func (g *Gateway) Pipe() func(context.Context, string) (net.Conn, error) {
	l := bufconn.Listen(1 << 20)
	g.Serve(l)
	return func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }
}

// PipeREST serves the REST API in memory and returns the function that dials it.
func (g *Gateway) PipeREST() func(context.Context, string) (net.Conn, error) {
	l := &pipes{dialed: make(chan net.Conn), closed: make(chan struct{})}
	g.ServeREST(l)
	return l.dial
}

// pipes is a listener in memory for the REST API. The connections of bufconn do not do for net/http: a read deadline that
// was taken back can still end a later read.
type pipes struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.dialed <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements [net.Listener].
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialed:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements [net.Listener].
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "pipe"} }

// Addresses are where a server listens, host:port.
type Addresses struct{ GRPC, REST, Monitoring string }

// Server is a gateway that listens on the loopback interface, and can be killed and come back. Its methods are for one
// goroutine at a time.
type Server struct {
	*Gateway
	// At is where it listens.
	At Addresses
}

// Start starts a server on free addresses, which gives the engine's records to record. The caller has to call
// [Gateway.Close].
func Start(record func(engine.Record)) (*Server, error) {
	s := &Server{Gateway: New(Options{Record: record})}
	return s, s.listen()
}

// Restart starts a server that was closed, as a kill does it, again on the same addresses. Its engine, as it was when the
// connections were cut, goes on.
func (s *Server) Restart() error {
	killed := s.Gateway
	killed.mu.Lock()
	e := killed.engine
	killed.engine = engine.New() // for a call that is still under way
	killed.mu.Unlock()
	s.Gateway = before(e, killed.offset, killed.options)
	return s.listen()
}

func (s *Server) listen() error {
	for _, l := range []struct {
		address *string
		serve   func(net.Listener)
	}{
		{&s.At.GRPC, s.Serve},
		{&s.At.REST, s.ServeREST},
		{&s.At.Monitoring, func(l net.Listener) { s.serveHTTP(l, s.monitoring()) }},
	} {
		listener, err := listen(l.address)
		if err != nil {
			s.Close()
			return err
		}
		l.serve(listener)
	}
	return nil
}

// listen listens on an address, or on a free one, which it notes.
func listen(address *string) (l net.Listener, err error) {
	if *address != "" {
		return net.Listen("tcp", *address)
	}
	if l, err = process.Listen(); err == nil {
		*address = l.Addr().String()
	}
	return l, err
}
