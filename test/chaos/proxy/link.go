package proxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// link is one connection through the proxy.
type link struct {
	proxy          *Proxy
	client, server *net.TCPConn
	once           sync.Once
	done           chan struct{} // closed by reset
	forwarded      [2]int64      // each counted by its direction's own goroutine
	stopped        [2]atomic.Bool
}

// reset ends both sides with a RST, and reports whether it was the one that did.
func (l *link) reset() (first bool) {
	l.once.Do(func() {
		first = true
		close(l.done)
		abort(l.client)
		abort(l.server)
	})
	return first
}

// abort closes a connection with a RST instead of a FIN.
func abort(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

// forward copies one direction until its end. It passes on an orderly end (FIN); anything else resets the connection.
func (l *link) forward(d Direction) {
	from, to := l.client, l.server
	if d == ToClient {
		from, to = to, from
	}
	buffer := make([]byte, 32<<10)
	for l.passable(d) {
		n, err := from.Read(buffer)
		if n > 0 && !l.pass(d, to, buffer[:n]) {
			return
		}
		switch {
		case errors.Is(err, io.EOF):
			if l.passable(d) {
				_ = to.CloseWrite()
			}
			return
		case err != nil:
			l.reset()
			return
		}
	}
}

// passable waits while the direction is a black hole, and reports false when the connection has been reset meanwhile.
func (l *link) passable(d Direction) bool {
	for {
		f, changed := l.proxy.current()
		if !f.BlackHole[d] {
			l.stopped[d].Store(false)
			return true
		}
		if l.stopped[d].CompareAndSwap(false, true) {
			l.proxy.blackHoled[d].Add(1)
		}
		select {
		case <-changed:
		case <-l.done:
			return false
		}
	}
}

// pass forwards what was read, with the current faults, and reports false when the connection has ended.
func (l *link) pass(d Direction, to *net.TCPConn, data []byte) bool {
	if !l.passable(d) {
		return false
	}
	f, _ := l.proxy.current()
	if f.Swallow[d] {
		l.proxy.swallowed[d].Add(int64(len(data)))
		return true
	}
	cut := f.CutAfter[d] > 0 && l.forwarded[d]+int64(len(data)) >= f.CutAfter[d]
	if cut {
		data = data[:max(0, f.CutAfter[d]-l.forwarded[d])]
	}
	n, err := to.Write(data)
	l.forwarded[d] += int64(n)
	if !cut && err == nil {
		return true
	}
	if l.reset() && cut {
		l.proxy.cut[d].Add(1)
	}
	return false
}
