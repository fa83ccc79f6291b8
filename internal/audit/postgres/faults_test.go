package postgres_test

import (
	"fmt"
	"strings"
	"testing"

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
