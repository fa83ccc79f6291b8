package ops_test

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// hold keeps n connections to an address until the test ends: it sends a beginning on each and then nothing, and opens
// another one for each that is closed. It returns when all are open, and counts those that were opened.
func hold(t *testing.T, address string, n int, beginnings ...string) (opened *atomic.Int64) {
	t.Helper()
	opened = new(atomic.Int64)
	ctx, stop := context.WithCancel(context.Background())
	var all, holding sync.WaitGroup
	t.Cleanup(func() { stop(); holding.Wait() })
	for i := range n {
		all.Add(1)
		first := sync.OnceFunc(all.Done)
		holding.Go(func() {
			defer first()
			for ctx.Err() == nil {
				conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
				if err != nil {
					return
				}
				opened.Add(1)
				_, _ = conn.Write([]byte(beginnings[i%len(beginnings)]))
				first()
				unhook := context.AfterFunc(ctx, func() { _ = conn.Close() })
				for err == nil { // until the server has had enough
					_, err = conn.Read(make([]byte, 4096))
				}
				unhook()
				_ = conn.Close()
			}
		})
	}
	all.Wait()
	return opened
}

// scrape scrapes until something is so, each time by a connection of its own, and returns how long each scrape took.
func scrape(t *testing.T, url string, enough func() bool) (took []time.Duration) {
	t.Helper()
	for !enough() {
		started := time.Now()
		if a := request(t, "GET", url, ""); a.StatusCode != http.StatusOK {
			t.Fatalf("a scrape got %d %q", a.StatusCode, a.body)
		}
		took = append(took, time.Since(started))
	}
	slices.Sort(took)
	return took
}

func TestScrapesAreAnsweredWhileAThousandConnectionsAreHeld(t *testing.T) {
	address := serve(t, options(always))
	opened := hold(t, address, 1000,
		"",                                      // nothing at all
		"GET /metrics HTTP/1.1\r\nHost: x\r\nX", // a header that never ends
		"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",                           // an answer, and the connection kept
		"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n1", // a body that never comes
	)
	// Each connection is held until the server ends it, and then comes again.
	took := scrape(t, "http://"+address+"/metrics", func() bool { return opened.Load() >= 2000 })
	t.Logf("%d scrapes, half of them within %v, slowest %v; %d connections", len(took), took[len(took)/2], took[len(took)-1], opened.Load())
}
