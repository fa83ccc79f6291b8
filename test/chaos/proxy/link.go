package proxy

import (
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
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

// piece is what was read in one go, and when it may arrive.
type piece struct {
	data []byte
	due  time.Time // zero: at once
}

// inFlight is how many pieces can be on their way in one direction. As on a real network, one that is held back does not
// keep others from being sent.
const inFlight = 1024

// forward copies one direction until its end. An orderly end (FIN) is passed on, anything else resets the connection.
func (l *link) forward(d Direction) {
	from, to := l.client, l.server
	if d == ToClient {
		from, to = to, from
	}
	pieces := make(chan piece, inFlight)
	var delivering sync.WaitGroup
	delivering.Go(func() { l.deliver(d, to, pieces) })
	l.receive(d, from, pieces)
	close(pieces)
	delivering.Wait()
}

// receive reads one direction until its end.
func (l *link) receive(d Direction, from *net.TCPConn, pieces chan<- piece) {
	buffer := make([]byte, 32<<10)
	for l.passable(d) {
		n, err := from.Read(buffer)
		if n > 0 {
			p := piece{data: slices.Clone(buffer[:n])}
			f, _ := l.proxy.current()
			if wait := l.proxy.delay(f); wait > 0 {
				p.due = time.Now().Add(wait)
				l.proxy.delayed.Add(1)
			}
			select {
			case pieces <- p:
			case <-l.done:
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				l.reset()
			}
			return
		}
	}
}

// deliver forwards what was read, and then the orderly end; where the connection has been reset that is in vain.
func (l *link) deliver(d Direction, to *net.TCPConn, pieces <-chan piece) {
	for p := range pieces {
		if !l.pass(d, to, p) {
			return
		}
	}
	if l.passable(d) {
		_ = to.CloseWrite()
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

// pass forwards a piece, with the faults of now, and reports false when the connection has ended.
func (l *link) pass(d Direction, to *net.TCPConn, p piece) bool {
	if !l.wait(p.due) || !l.passable(d) {
		return false
	}
	f, _ := l.proxy.current()
	if f.Swallow[d] {
		l.proxy.swallowed[d].Add(int64(len(p.data)))
		return true
	}
	if l.proxy.breaks(f) {
		if l.reset() {
			l.proxy.reset.Add(1)
		}
		return false
	}
	data := p.data
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

// wait holds a piece back until it is due, and reports false when the connection has been reset meanwhile.
func (l *link) wait(due time.Time) bool {
	if due.IsZero() {
		return true
	}
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.done:
		return false
	}
}
