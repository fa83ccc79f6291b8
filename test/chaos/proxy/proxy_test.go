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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
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
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
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

func TestBlackHoleTowardsTheServerKeepsTheData(t *testing.T) {
	p, server := start(t)
	conn := dial(t, p)
	exchange(t, conn, "hello")
	p.Set(Faults{BlackHole: [2]bool{ToServer: true}})
	send(t, conn, "lost?")
	eventually(t, "the data are stopped", func() bool { return p.Counts().BlackHoled[ToServer] == 1 })
	silent(t, conn)
	if got := server.got(); got != "hello" {
		t.Errorf("the server received %q", got)
	}
	p.Set(Faults{})
	receive(t, conn, "lost?")
}

func TestABlackHoleTowardsTheClientLetsTheRequestThrough(t *testing.T) {
	p, server := start(t)
	conn := dial(t, p)
	exchange(t, conn, "hello")
	p.Set(Faults{BlackHole: [2]bool{ToClient: true}})
	send(t, conn, "again")
	eventually(t, "the reply is stopped", func() bool { return p.Counts().BlackHoled[ToClient] == 1 })
	if got := server.got(); got != "helloagain" {
		t.Errorf("the server received %q", got)
	}
	silent(t, conn)
	if n := p.ResetAll(); n != 1 {
		t.Errorf("%d connections in the hole reset", n)
	}
	isReset(t, conn)
}

func TestASwallowedReplyNeverArrivesAndItsRequestDoes(t *testing.T) {
	p, server := start(t)
	conn := dial(t, p)
	exchange(t, conn, "hello")
	p.Set(Faults{Swallow: [2]bool{ToClient: true}})
	send(t, conn, "request")
	eventually(t, "the reply is swallowed", func() bool { return p.Counts().Swallowed[ToClient] == 7 })
	if got := server.got(); got != "hellorequest" {
		t.Errorf("the server received %q", got)
	}
	p.Set(Faults{})
	exchange(t, conn, "next")
}

func TestAConnectionIsCutAfterExactlySoManyBytes(t *testing.T) {
	for _, d := range []Direction{ToServer, ToClient} {
		t.Run(d.String(), func(t *testing.T) {
			p, server := start(t)
			conn := dial(t, p)
			exchange(t, conn, "hello")
			var f Faults
			f.CutAfter[d] = 7
			p.Set(f)
			send(t, conn, "0123")
			isReset(t, conn)
			eventually(t, "the cut is counted", func() bool { return p.Counts().Cut[d] == 1 })
			if n := p.Counts().Bytes[d]; n != 7 {
				t.Errorf("%d bytes passed", n)
			}
			if d == ToServer {
				// The reset overtakes data that the server has not read yet.
				if got := server.got(); got != "hello" && got != "hello01" {
					t.Errorf("the server received %q", got)
				}
			}
		})
	}
}

func TestRefusedConnectionsAreResetAndOpenOnesGoOn(t *testing.T) {
	p, server := start(t)
	open := dial(t, p)
	exchange(t, open, "hello")
	p.Set(Faults{Refuse: true})
	isRefused(t, p, 1)
	exchange(t, open, "still here")
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
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
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
