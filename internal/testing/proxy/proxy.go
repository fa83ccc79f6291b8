// Package proxy is a TCP proxy that breaks connections on purpose, before a broker, a database or a queue of a test.
package proxy

import (
	"errors"
	"io"
	"maps"
	"net"
	"sync"
)

// Direction is one of the two ways through a proxy.
type Direction int

// A request goes to the server, its reply to the client.
const (
	ToServer Direction = iota
	ToClient
)

// Faults is what happens to all connections, old and new. The zero value is a proxy without faults.
type Faults struct {
	// Refuse resets each new connection.
	Refuse bool
	// Hole holds back what is sent in a direction; the connection looks open. What waited arrives when it ends, and is lost
	// where the connection is reset before. Both directions: a half-open connection.
	Hole [2]bool
	// CutAfter resets a connection after so many bytes in a direction since its beginning; 0 is never.
	CutAfter [2]int
}

// Counts is what a proxy did: a test proves with it that its faults happened.
type Counts struct {
	Refused   int    // connections
	Held, Cut [2]int // how often something was sent into a hole, and connections that were cut
}

// Proxy is one before one address.
type Proxy struct {
	listener *net.TCPListener
	target   string
	running  sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond // when a fault or a connection ends
	faults  Faults
	counts  Counts
	links   map[*link]bool // nil once the proxy is closed
}

// link is one connection through the proxy.
type link struct {
	client, server *net.TCPConn
	forwarded      [2]int // bytes
	dead           bool
}

// Start forwards a free port of loopback to target, host:port. The caller closes it.
func Start(target string) (*Proxy, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, target: target, links: map[*link]bool{}}
	p.changed = sync.NewCond(&p.mu)
	p.running.Go(func() {
		for {
			client, err := listener.AcceptTCP()
			if err != nil {
				return // closed
			}
			p.running.Go(func() { p.serve(client) })
		}
	})
	return p, nil
}

// Address is where clients connect, host:port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Set replaces the faults.
func (p *Proxy) Set(f Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = f
	p.changed.Broadcast()
}

// Did is what the proxy has done so far.
func (p *Proxy) Did() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

// ResetAll resets both sides of all connections that are open now, and returns how many. New ones are accepted.
func (p *Proxy) ResetAll() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resetOpen()
}

// resetOpen is called with the lock, as reset is.
func (p *Proxy) resetOpen() int {
	open := maps.Clone(p.links)
	for l := range open {
		p.reset(l)
	}
	return len(open)
}

// Close resets all connections and returns when nothing of the proxy runs any more.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.resetOpen()
	p.links = nil
	p.mu.Unlock()
	p.running.Wait()
	return err
}

func (p *Proxy) reset(l *link) {
	delete(p.links, l)
	l.dead = true
	abort(l.client)
	abort(l.server)
	p.changed.Broadcast()
}

// abort closes a connection with a RST instead of a FIN.
func abort(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

// serve forwards one connection until both directions have ended.
func (p *Proxy) serve(client *net.TCPConn) {
	server, err := net.Dial("tcp", p.target)
	p.mu.Lock()
	if p.faults.Refuse || err != nil {
		p.counts.Refused++
	}
	refused := p.faults.Refuse || err != nil || p.links == nil
	var l *link
	if !refused {
		l = &link{client: client, server: server.(*net.TCPConn)}
		p.links[l] = true
	}
	p.mu.Unlock()
	if refused {
		abort(client)
		if err == nil {
			abort(server.(*net.TCPConn))
		}
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.forward(l, ToServer) })
	both.Go(func() { p.forward(l, ToClient) })
	both.Wait()
	_, _ = l.client.Close(), l.server.Close() // in order, unless it was reset: the last bytes may be on their way
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// forward copies one Direction until its end. It passes on an orderly end (FIN); anything else resets the connection.
func (p *Proxy) forward(l *link, d Direction) {
	from, to := l.client, l.server
	if d == ToClient {
		from, to = to, from
	}
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		data, ok := p.pass(l, d, buffer[:n])
		if ok || len(data) > 0 {
			if _, failed := to.Write(data); failed != nil {
				ok = false
			}
		}
		switch {
		case !ok || err != nil && !errors.Is(err, io.EOF):
			p.mu.Lock()
			defer p.mu.Unlock()
			p.reset(l)
			return
		case err != nil:
			_ = to.CloseWrite()
			return
		}
	}
}

// pass waits while the Direction is a black hole, and returns what of the data to forward; ok is false where the connection
// ends with that.
func (p *Proxy) pass(l *link, d Direction, data []byte) (passed []byte, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.faults.Hole[d] {
		p.counts.Held[d]++
	}
	for p.faults.Hole[d] && !l.dead {
		p.changed.Wait()
	}
	most := p.faults.CutAfter[d] - l.forwarded[d]
	switch {
	case l.dead:
		return nil, false
	case p.faults.CutAfter[d] > 0 && len(data) >= most:
		p.counts.Cut[d]++
		return data[:max(0, most)], false
	}
	l.forwarded[d] += len(data)
	return data, true
}
