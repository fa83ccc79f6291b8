package gatewaytest

import (
	"context"
	"net"
	"sync"
)

// pipes is a listener in memory for the REST API. The connections of bufconn do not do for net/http: a read deadline that
// was taken back can still end a later read.
type pipes struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{dialed: make(chan net.Conn), closed: make(chan struct{})} }

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
