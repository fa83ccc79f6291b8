package proxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// link is one connection through the proxy.
type link struct {
	proxy          *Proxy
	client, server *net.TCPConn
	once           sync.Once
	done           chan struct{} // closed by reset
	forwarded      [2]int64      // each counted by its direction's own goroutine
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

// forward copies one direction until its end. An orderly end (FIN) is passed on, anything else resets the connection.
func (l *link) forward(d Direction) {
	from, to := l.client, l.server
	if d == ToClient {
		from, to = to, from
	}
	buffer := make([]byte, 32<<10)
	for l.passable(d) {
		n, err := from.Read(buffer)
		if n > 0 && !l.piece(d, to, buffer[:n]) {
			return
		}
		if err != nil {
			if errors.Is(err, io.EOF) && l.passable(d) {
				_ = to.CloseWrite()
			} else {
				l.reset()
			}
			return
		}
	}
}

// passable waits while the direction is a black hole, and reports false when the connection has been reset meanwhile.
func (l *link) passable(d Direction) bool {
	for stopped := false; ; {
		f, changed := l.proxy.current()
		if !f.BlackHole[d] {
			return true
		}
		if !stopped {
			stopped = true
			l.proxy.blackHoled[d].Add(1)
		}
		select {
		case <-changed:
		case <-l.done:
			return false
		}
	}
}

// piece forwards what was read in one go, with the faults of now, and reports false when the connection has ended.
func (l *link) piece(d Direction, to *net.TCPConn, data []byte) bool {
	// The read may have begun before the hole opened.
	if !l.passable(d) {
		return false
	}
	f, _ := l.proxy.current()
	if f.Swallow[d] {
		l.proxy.swallowed[d].Add(int64(len(data)))
		return true
	}
	if wait := l.proxy.delay(f); wait > 0 {
		l.proxy.delayed.Add(1)
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-l.done:
			return false
		}
	}
	cut := f.CutAfter[d] > 0 && l.forwarded[d]+int64(len(data)) >= f.CutAfter[d]
	if cut {
		data = data[:max(0, f.CutAfter[d]-l.forwarded[d])]
	}
	n, err := to.Write(data)
	l.forwarded[d] += int64(n)
	l.proxy.bytes[d].Add(int64(n))
	if !cut && err == nil {
		return true
	}
	if l.reset() && cut {
		l.proxy.cut[d].Add(1)
	}
	return false
}
