package app_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

func TestAThousandConnectionsToTheMetricsPortBlockNoJob(t *testing.T) {
	const jobsEach = 100
	g, address := gateway(t)
	r := start(t, settings(t, address))
	round := 0
	work := func() time.Duration {
		round++
		began := time.Now()
		g.Add(jobs(jobsEach, "TIMEOUT")...)
		await(t, g, func(c gatewaytest.Counts) bool { return c.Completed == round*jobsEach })
		return time.Since(began)
	}
	alone := work()
	for i := range 1000 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		check.Must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		if i%2 == 0 {
			_, _ = conn.Write([]byte("GET /metrics HTTP/1.1\r\nHost: x\r\nX")) // and the rest never
		}
	}
	beside := work()
	if c := g.Counts(); c.Incident+c.Expired > 0 {
		t.Errorf("jobs are at %+v, want none that took too long", c)
	}
	r.awaitReadiness(200, "ready")
	t.Logf("%d jobs take %v alone, %v beside a thousand connections", jobsEach, alone, beside)
}
