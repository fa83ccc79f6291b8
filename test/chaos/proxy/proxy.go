// Package proxy is a TCP proxy that breaks connections on purpose. It stands in front of the broker, the database or the
// queue of a test; its faults are switched while it runs, and counted, so that a test can prove that they happened.
package proxy

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// Direction is one of the two ways through the proxy.
type Direction int

// The two directions. A request goes ToServer, its reply ToClient.
const (
	ToServer Direction = iota
	ToClient
)

// Faults is what happens to the connections, old and new, from the moment of [Proxy.Set]. The zero value is a faultless
// proxy.
type Faults struct {
	// Refuse resets every new connection before a byte of it is forwarded. Open ones go on.
	Refuse bool
	// BlackHole, per direction: data are no longer read, and the connection stays open. When it ends, what waited
	// arrives. The sender sees its buffers fill up; the receiver sees silence. Both directions: a half-open connection.
	BlackHole [2]bool
	// Swallow, per direction: data are read and thrown away. Swallow[ToClient] loses the replies to requests that the
	// server has carried out. What is swallowed is gone, so reset such a connection before it is used again.
	Swallow [2]bool
	// CutAfter, per direction: a connection is reset once it has forwarded so many bytes, the last of them included. Bytes
	// from before the fault was set count. 0: never.
	CutAfter [2]int64
}

// Counts is what the proxy did since it started.
type Counts struct {
	// Refused connections, by the fault or because the server was away.
	Refused int64
	// BlackHoled is how often the data of a connection and direction were stopped.
	BlackHoled [2]int64
	// Swallowed bytes, per direction.
	Swallowed [2]int64
	// Cut connections, per direction.
	Cut [2]int64
}

// Proxy forwards connections to one address. Its methods are safe for concurrent use.
type Proxy struct {
	listener *net.TCPListener
	target   string
	ctx      context.Context // ends with the proxy
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu      sync.Mutex
	faults  Faults
	changed chan struct{} // closed when faults are set
	links   map[*link]struct{}

	refused                    atomic.Int64
	blackHoled, swallowed, cut [2]atomic.Int64
}

// Start listens on a free port of loopback and forwards to target, host:port, without faults.
func Start(target string) (*Proxy, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Proxy{
		listener: listener, target: target, ctx: ctx, cancel: cancel,
		changed: make(chan struct{}), links: map[*link]struct{}{},
	}
	p.running.Go(p.accept)
	return p, nil
}

// Address is where clients connect, host:port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Set replaces the faults, for open connections too.
func (p *Proxy) Set(f Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = f
	close(p.changed)
	p.changed = make(chan struct{})
}

// ResetAll resets (RST) both sides of all connections that are open now, and returns how many. New ones are accepted.
func (p *Proxy) ResetAll() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for l := range p.links {
		if l.reset() {
			n++
		}
	}
	return n
}

// Counts returns what the proxy has done so far.
func (p *Proxy) Counts() Counts {
	both := func(c *[2]atomic.Int64) [2]int64 { return [2]int64{c[0].Load(), c[1].Load()} }
	return Counts{
		Refused: p.refused.Load(), BlackHoled: both(&p.blackHoled), Swallowed: both(&p.swallowed), Cut: both(&p.cut),
	}
}

// Close resets all connections and returns when nothing of the proxy runs any more.
func (p *Proxy) Close() error {
	p.cancel()
	err := p.listener.Close()
	p.mu.Lock()
	for l := range p.links {
		l.reset()
	}
	p.mu.Unlock()
	p.running.Wait()
	return err
}

// current returns the faults of now, and a channel that is closed when others are set.
func (p *Proxy) current() (Faults, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults, p.changed
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.AcceptTCP()
		if err != nil {
			return // closed
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve forwards one connection until both directions have ended.
func (p *Proxy) serve(client *net.TCPConn) {
	p.mu.Lock()
	refuse := p.faults.Refuse
	p.mu.Unlock()
	if refuse {
		p.refuse(client)
		return
	}
	conn, err := (&net.Dialer{}).DialContext(p.ctx, "tcp", p.target)
	if err != nil {
		p.refuse(client)
		return
	}
	l := &link{proxy: p, client: client, server: conn.(*net.TCPConn), done: make(chan struct{})}
	if !p.add(l) {
		l.reset()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.forward(ToServer) })
	both.Go(func() { l.forward(ToClient) })
	both.Wait()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
	_, _ = l.client.Close(), l.server.Close()
}

// add reports false where the proxy has been closed meanwhile.
func (p *Proxy) add(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return false
	}
	p.links[l] = struct{}{}
	return true
}

func (p *Proxy) refuse(client *net.TCPConn) {
	p.refused.Add(1)
	abort(client)
}
