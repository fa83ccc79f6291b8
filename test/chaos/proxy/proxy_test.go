package proxy

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echoed returns a connection through a proxy to a server that sends everything back. Nothing on it takes longer than 20 s.
func echoed(t *testing.T) (*Proxy, net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if conn, err := listener.Accept(); err == nil {
			_, _ = io.Copy(conn, conn)
			_ = conn.Close()
		}
	}()
	p, err := Start(listener.Addr().String())
	check.Must(t, err)
	conn, err := net.Dial("tcp", p.Address())
	check.Must(t, err)
	check.Must(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	t.Cleanup(func() {
		_, _, _ = conn.Close(), p.Close(), listener.Close()
		<-ended
	})
	exchange(t, conn, "hello")
	return p, conn
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	_, err := io.WriteString(conn, text)
	check.Must(t, err)
}

func receive(t *testing.T, conn net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		t.Fatalf("received %q, %v, want %q", got[:n], err, want)
	}
}

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

func TestBlackHoleHoldsWhatIsSentUntilItEnds(t *testing.T) {
	for _, d := range []Direction{ToServer, ToClient} {
		p, conn := echoed(t)
		var f Faults
		f.BlackHole[d] = true
		p.Set(f)
		send(t, conn, "again")
		silent(t, conn)
		if n := p.Counts().BlackHoled[d]; n != 1 {
			t.Errorf("%d connections counted", n)
		}
		p.Set(Faults{})
		receive(t, conn, "again")
	}
}

func TestSwallowedRepliesAreGone(t *testing.T) {
	p, conn := echoed(t)
	p.Set(Faults{Swallow: [2]bool{ToClient: true}})
	send(t, conn, "again")
	silent(t, conn)
	if n := p.Counts().Swallowed[ToClient]; n != 5 {
		t.Errorf("%d bytes counted", n)
	}
	p.Set(Faults{})
	exchange(t, conn, "after")
}

func TestConnectionIsCutAfterItsBytes(t *testing.T) {
	for _, d := range []Direction{ToServer, ToClient} {
		p, conn := echoed(t)
		var f Faults
		f.CutAfter[d] = 7
		p.Set(f)
		send(t, conn, "again")
		isReset(t, conn)
		if n := p.Counts().Cut[d]; n != 1 {
			t.Errorf("%d connections counted", n)
		}
	}
}

func TestRefusedConnectionIsReset(t *testing.T) {
	p, open := echoed(t)
	p.Set(Faults{Refuse: true})
	exchange(t, open, "an open one goes on")
	conn, err := net.Dial("tcp", p.Address())
	if err == nil {
		defer conn.Close()
		_, err = conn.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) || p.Counts().Refused != 1 {
		t.Errorf("got %v, want a reset that is counted: %+v", err, p.Counts())
	}
}

func TestResetAndCloseResetOpenConnections(t *testing.T) {
	p, conn := echoed(t)
	if n := p.ResetAll(); n != 1 {
		t.Errorf("%d connections reset", n)
	}
	isReset(t, conn)

	p, conn = echoed(t)
	p.Set(Faults{BlackHole: [2]bool{true, true}})
	send(t, conn, "stuck")
	check.Must(t, p.Close())
	isReset(t, conn)
}
