package ops

import (
	"container/list"
	"net"
	"sync"
)

// fair is a listener with a bound on open connections. To accept one more it closes the oldest of the peer that has the most,
// so that a peer that opens many loses its own. With a bound that lets new ones wait instead, one peer with silent
// connections would keep the scraper out.
type fair struct {
	net.Listener
	most int

	mu    sync.Mutex
	open  int
	peers map[string]*list.List // by host; of *kept, oldest first; none is empty
}

// kept is a connection that the listener may close.
type kept struct {
	net.Conn
	of    *fair
	peer  string
	place *list.Element // in its peer's list; nil once it is closed
}

func newFair(listener net.Listener, most int) *fair {
	return &fair{Listener: listener, most: most, peers: map[string]*list.List{}}
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
	if l.open == l.most {
		oldest := l.oldest()
		l.remove(oldest)
		_ = oldest.Conn.Close() // its own goroutine sees the error
	}
	l.add(k)
	return k, nil
}

func (l *fair) add(k *kept) {
	if l.peers[k.peer] == nil {
		l.peers[k.peer] = list.New()
	}
	k.place = l.peers[k.peer].PushBack(k)
	l.open++
}

// oldest returns the oldest connection of the peer that has the most.
func (l *fair) oldest() *kept {
	var most *list.List
	for _, connections := range l.peers {
		if most == nil || connections.Len() > most.Len() {
			most = connections
		}
	}
	k, _ := most.Front().Value.(*kept)
	return k
}

func (l *fair) remove(k *kept) {
	if k.place == nil {
		return
	}
	connections := l.peers[k.peer]
	connections.Remove(k.place)
	if connections.Len() == 0 {
		delete(l.peers, k.peer)
	}
	k.place = nil
	l.open--
}

// Close closes the connection and makes room for another.
func (k *kept) Close() error {
	k.of.mu.Lock()
	k.of.remove(k)
	k.of.mu.Unlock()
	return k.Conn.Close()
}
