package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is a server that sends everything back, and keeps what it was sent.
type echo struct {
	net.Listener
	mu       sync.Mutex
	received bytes.Buffer
}

func (e *echo) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.received.Write(b)
}

func (e *echo) got() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.received.String()
}

func start(t *testing.T) (*Proxy, *echo) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	server := &echo{Listener: listener}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				_, _ = io.Copy(conn, io.TeeReader(conn, server))
			})
		}
	})
	p, err := Start(listener.Addr().String(), 1)
	check.Must(t, err)
	t.Cleanup(func() {
		_ = p.Close()
		_ = listener.Close()
		running.Wait()
	})
	return p, server
}

// dial connects to the proxy; nothing on the connection takes longer than 20 s.
func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address())
	check.Must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	check.Must(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	return conn
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, conn net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		t.Fatalf("received %q, %v, want %q", got[:n], err, want)
	}
}

// exchange proves that the connection works both ways.
func exchange(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	send(t, conn, text)
	receive(t, conn, text)
}

// silent fails where anything arrives within a moment. It can only miss a fault of the proxy, never invent one.
func silent(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("received %d bytes, %v, want silence", n, err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
}

func isReset(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := io.ReadAll(conn); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
}

// isRefused fails where a new connection is not reset: either the dial or the first read says so.
func isRefused(t *testing.T, p *Proxy, times int64) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", p.Address(), 20*time.Second)
	if err == nil {
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		_, err = conn.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
	eventually(t, "the refusal is counted", func() bool { return p.Counts().Refused == times })
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline, tick := time.After(20*time.Second), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

func TestWithoutFaultsBothDirectionsAndTheOrderlyEndPass(t *testing.T) {
	p, _ := start(t)
	conn := dial(t, p)
	exchange(t, conn, "hello")
	send(t, conn, "last")
	check.Must(t, conn.(*net.TCPConn).CloseWrite())
	if rest, err := io.ReadAll(conn); err != nil || string(rest) != "last" {
		t.Errorf("after our end came %q, %v", rest, err)
	}
	if got, want := p.Counts(), (Counts{Bytes: [2]int64{9, 9}}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

func TestResetAllResetsOpenConnectionsAndAcceptsNewOnes(t *testing.T) {
	p, _ := start(t)
	conns := []net.Conn{dial(t, p), dial(t, p)}
	for _, conn := range conns {
		exchange(t, conn, "hello")
	}
	if n := p.ResetAll(); n != 2 {
		t.Errorf("%d connections reset", n)
	}
	for _, conn := range conns {
		isReset(t, conn)
	}
	exchange(t, dial(t, p), "hello")
	if n := p.Counts().Reset; n != 2 {
		t.Errorf("%d resets counted", n)
	}
}

func TestEachFaultDoesWhatItSaysToAnOpenConnection(t *testing.T) {
	const echoed, silence, broken = "the echo", "silence", "a reset"
	both := func(d Direction) (f [2]bool) { f[d] = true; return f }
	for name, c := range map[string]struct {
		faults Faults
		server string // what it gets in addition
		client string // what it sees
		count  func(Counts) int64
		want   int64
		after  string // what comes once there is no fault any more
	}{
		"black hole towards the server": {Faults{BlackHole: both(ToServer)}, "", silence, func(c Counts) int64 { return c.BlackHoled[ToServer] }, 1, "again"},
		"black hole towards the client": {Faults{BlackHole: both(ToClient)}, "again", silence, func(c Counts) int64 { return c.BlackHoled[ToClient] }, 1, "again"},
		"replies swallowed":             {Faults{Swallow: both(ToClient)}, "again", silence, func(c Counts) int64 { return c.Swallowed[ToClient] }, 5, ""},
		"held back":                     {Faults{Latency: time.Hour, Jitter: time.Second}, "", silence, func(c Counts) int64 { return c.Delayed }, 1, ""},
		"a reset by chance":             {Faults{ResetShare: 1}, "", broken, func(c Counts) int64 { return c.Reset }, 1, ""},
		"new connections refused":       {Faults{Refuse: true}, "again", echoed, func(c Counts) int64 { return c.Refused }, 0, ""},
		"a reply cut after 7 bytes":     {Faults{CutAfter: [2]int64{ToClient: 7}}, "again", broken, func(c Counts) int64 { return c.Cut[ToClient] * c.Bytes[ToClient] }, 7, ""},
		// The reset overtakes data that the server has not read yet.
		"a request cut after 7 bytes": {Faults{CutAfter: [2]int64{ToServer: 7}}, "?", broken, func(c Counts) int64 { return c.Cut[ToServer] * c.Bytes[ToServer] }, 7, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, server := start(t)
			conn := dial(t, p)
			exchange(t, conn, "hello")
			p.Set(c.faults)
			send(t, conn, "again")
			switch c.client {
			case echoed:
				receive(t, conn, "again")
			case silence:
				silent(t, conn)
			case broken:
				isReset(t, conn)
			}
			eventually(t, "it is counted", func() bool { return c.count(p.Counts()) == c.want })
			if got := server.got(); c.server != "?" && got != "hello"+c.server {
				t.Errorf("the server received %q", got)
			}
			p.Set(Faults{})
			if c.after != "" {
				receive(t, conn, c.after)
			}
		})
	}
}

func TestRefusedConnectionsAreReset(t *testing.T) {
	p, server := start(t)
	p.Set(Faults{Refuse: true})
	isRefused(t, p, 1)
	p.Set(Faults{})
	_ = server.Close() // a server that is away refuses too
	isRefused(t, p, 2)
}

func TestCloseEndsConnectionsInABlackHole(t *testing.T) {
	p, _ := start(t)
	conn := dial(t, p)
	exchange(t, conn, "hello")
	p.Set(Faults{BlackHole: [2]bool{true, true}})
	send(t, conn, "stuck")
	check.Must(t, p.Close())
	isReset(t, conn)
}

func TestOnlyNewConnectionsGoToTheNewTarget(t *testing.T) {
	p, first := start(t)
	_, second := start(t)
	old := dial(t, p)
	exchange(t, old, "one")
	p.Retarget(second.Addr().String())
	exchange(t, dial(t, p), "two")
	exchange(t, old, "three")
	if first.got() != "onethree" || second.got() != "two" {
		t.Errorf("the first target got %q, the second %q", first.got(), second.got())
	}
}
