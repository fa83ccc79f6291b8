package ops

import (
	"errors"
	"net"
	"slices"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// announced is a listener whose connections are announced by their peers.
type announced chan *from

// from is a connection from a peer; it only knows whether it is open.
type from struct {
	net.Conn
	peer   string
	closed bool
}

func (a announced) Accept() (net.Conn, error) { return <-a, nil }
func (a announced) Close() error              { return nil }
func (a announced) Addr() net.Addr            { return &net.TCPAddr{} }

func (f *from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(f.peer), Port: 1} }

func (f *from) Close() error {
	if f.closed {
		return errors.New("closed twice")
	}
	f.closed = true
	return nil
}

func TestOneConnectionTooManyClosesTheOldestOfTheBusiestPeer(t *testing.T) {
	const scraper, probe, crowd = "10.0.0.1", "10.0.0.2", "10.0.0.3"
	for _, test := range []struct {
		name  string
		peers []string // in the order in which they connect, where four are kept
		open  []int    // which of them are open in the end
	}{
		{"four are kept", []string{scraper, probe, crowd, crowd}, []int{0, 1, 2, 3}},
		{"who opens many pushes out his own", []string{scraper, crowd, crowd, probe, crowd, crowd, crowd}, []int{0, 3, 5, 6}},
		{"a newcomer has the place of one of many", []string{crowd, crowd, crowd, crowd, scraper, probe}, []int{2, 3, 4, 5}},
		{"one peer keeps its newest", []string{crowd, crowd, crowd, crowd, crowd, crowd}, []int{2, 3, 4, 5}},
	} {
		t.Run(test.name, func(t *testing.T) {
			listener := make(announced, 1)
			l := &fair{Listener: listener, most: 4}
			var all []*from
			var accepted []net.Conn
			for _, peer := range test.peers {
				f := &from{peer: peer}
				all = append(all, f)
				listener <- f
				conn, err := l.Accept()
				check.Must(t, err)
				accepted = append(accepted, conn)
			}
			var open []int
			for i, f := range all {
				if !f.closed {
					open = append(open, i)
				}
			}
			if !slices.Equal(open, test.open) {
				t.Errorf("open are %v, want %v", open, test.open)
			}
			for _, i := range test.open {
				if err := accepted[i].Close(); err != nil {
					t.Error(err)
				}
			}
			if len(l.open) != 0 {
				t.Errorf("all are closed, but %d count as open", len(l.open))
			}
		})
	}
}

func TestTheWorkerKeepsDescriptorsFromClients(t *testing.T) {
	for _, test := range []struct{ limit, want int }{
		{64, 16},
		{256, 64},
		{512, 256},
		{1024, 768}, // what systemd and most shells set
		{1356, 1100},
		{1 << 20, 1100},
	} {
		if got := connections(mostConnections, test.limit); got != test.want {
			t.Errorf("with a limit of %d open files the server keeps %d connections, want %d", test.limit, got, test.want)
		}
	}
}
