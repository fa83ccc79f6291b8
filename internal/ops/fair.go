package ops

import (
	"cmp"
	"net"
	"slices"
	"sync"
)

// fair is a listener with a bound on open connections. To accept one more it closes the oldest of the peer that has the most,
// so that a peer that opens many loses its own. With a bound that lets new ones wait instead, one peer with silent
// connections would keep the scraper out.
type fair struct {
	net.Listener
	most int

	mu   sync.Mutex
	open []*kept // oldest first
}

// kept is a connection that the listener may close.
type kept struct {
	net.Conn
	of   *fair
	peer string // its host
}

// Accept waits for the next connection.
func (l *fair) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	k := &kept{Conn: conn, of: l}
	k.peer, _, _ = net.SplitHostPort(conn.RemoteAddr().String()) // empty, and one peer, for all without host and port
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) == l.most {
		oldest := l.oldest()
		l.remove(oldest)
		_ = oldest.Conn.Close() // its own goroutine sees the error
	}
	l.open = append(l.open, k)
	return k, nil
}

// oldest returns the oldest connection of the peer that has the most.
func (l *fair) oldest() *kept {
	has := map[string]int{}
	for _, k := range l.open {
		has[k.peer]++
	}
	return slices.MaxFunc(l.open, func(a, b *kept) int { return cmp.Compare(has[a.peer], has[b.peer]) })
}

func (l *fair) remove(k *kept) {
	l.open = slices.DeleteFunc(l.open, func(other *kept) bool { return other == k })
}

// Close closes the connection and makes room for another.
func (k *kept) Close() error {
	k.of.mu.Lock()
	k.of.remove(k)
	k.of.mu.Unlock()
	return k.Conn.Close()
}
