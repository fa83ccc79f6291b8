package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/internal/testing/proxy"
)

// through is the URL by way of a proxy.
func through(tb testing.TB, address string) (string, *proxy.Proxy) {
	tb.Helper()
	server := devpostgres.Shared(tb).Address()
	p, err := proxy.Start(server)
	check.Must(tb, err)
	tb.Cleanup(func() { check.Must(tb, p.Close()) })
	return strings.Replace(address, server, p.Address(), 1), p
}

func TestAConnectionThatIsCutAnywhereLosesAndDoublesNothing(t *testing.T) {
	address, key := devpostgres.Database(t), audittest.Secret(t)
	behind, p := through(t, address)
	s := open(t, behind, key)
	const batch = 3
	job := 0
	for _, direction := range []proxy.Direction{proxy.ToServer, proxy.ToClient} {
		for n := 50; n < 6000; n += 150 {
			postgres.Reconnect(s)
			faults := proxy.Faults{}
			faults.CutAfter[direction] = n
			p.Set(faults)
			first, err := s.Append(t.Context(), audittest.Entries(audittest.Records(job, job+batch)...))
			p.Set(proxy.Faults{})
			p.ResetAll()
			postgres.Reconnect(s)
			for i, a := range audittest.Append(t, s, audittest.Records(job, job+batch)...) {
				if err == nil && a.Record != first[i].Record {
					t.Errorf("cut after %d bytes %v: %+v, then %+v", n, direction, first[i].Record, a.Record)
				}
			}
			job += batch
		}
	}
	cut := p.Did().Cut
	if cut[proxy.ToServer] < 10 || cut[proxy.ToClient] < 10 {
		t.Errorf("too few connections were cut: %v", cut)
	}
	audittest.Verify(t, open(t, address, key), key, int64(job))
	t.Log(fmt.Sprint("cut to the server and to the client: ", cut))
}

// The guard is poolTimeout: pgx waits 15 s for the end of a connection whose query was given up.
func TestAStopBesideDeadConnectionsEndsInTime(t *testing.T) {
	behind, p := through(t, devpostgres.Database(t))
	s, err := postgres.Open(t.Context(), behind, audittest.Secret(t))
	check.Must(t, err)
	lead, err := s.Lead(t.Context())
	check.Must(t, err)
	audittest.Append(t, s, audittest.Record(0))
	p.Set(proxy.Faults{Hole: [2]bool{true, true}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Append(ctx, audittest.Entries(audittest.Record(1))); err == nil {
		t.Fatal("it appended through a dead connection")
	}
	began := time.Now()
	lead.Release()
	check.Must(t, s.Close())
	if took := time.Since(began); took > 6*time.Second { // internal/app gives the stores and connections ten together
		t.Errorf("it took %v", took)
	}
}
