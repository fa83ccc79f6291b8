package proxy

import (
	"errors"
	"io"
	"syscall"
	"testing"
	"time"
)

func TestLatencyHoldsBackEveryPieceBothWays(t *testing.T) {
	p, _ := start(t)
	conn := dial(t, p)
	p.Set(Faults{Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond})
	before := time.Now()
	exchange(t, conn, "hello")
	if took := time.Since(before); took < 40*time.Millisecond {
		t.Errorf("there and back in %v", took)
	}
	if n := p.Counts().Delayed; n < 2 {
		t.Errorf("%d pieces delayed", n)
	}
}

func TestDelayedPieceHoldsBackNoOther(t *testing.T) {
	p, server := start(t)
	conn := dial(t, p)
	p.Set(Faults{Latency: time.Hour})
	const pieces = 20
	for range pieces {
		before := p.Counts().Delayed
		send(t, conn, "x")
		eventually(t, "the piece is taken", func() bool { return p.Counts().Delayed > before })
	}
	if got := server.got(); got != "" {
		t.Errorf("the server received %q", got)
	}
}

func TestShareOfThePiecesResetsTheConnection(t *testing.T) {
	p, server := start(t)
	p.Set(Faults{ResetShare: 0.5})
	resets := 0
	for range 20 {
		conn := dial(t, p)
		send(t, conn, "hello")
		if _, err := io.ReadFull(conn, make([]byte, 5)); errors.Is(err, syscall.ECONNRESET) {
			resets++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	// Each goes there and back, so that three in four are reset.
	if resets < 5 || resets == 20 {
		t.Errorf("%d of 20 connections were reset", resets)
	}
	eventually(t, "the resets are counted", func() bool { return p.Counts().Reset == int64(resets) })
	if got := server.got(); len(got) < 5*(20-resets) || len(got) == 5*20 {
		t.Errorf("the server received %d bytes", len(got))
	}
}
