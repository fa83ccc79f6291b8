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

// scrape scrapes for a while, each time by a connection of its own, and returns how long each scrape took.
func scrape(t *testing.T, url string, during time.Duration) (took []time.Duration) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < during; {
		started := time.Now()
		if a := request(t, "GET", url, ""); a.StatusCode != http.StatusOK {
			t.Fatalf("a scrape got %d %q", a.StatusCode, a.body)
		}
		took = append(took, time.Since(started))
	}
	slices.Sort(took)
	return took
}

func TestScrapesTakeLessThanASecondWhileAThousandConnectionsAreHeld(t *testing.T) {
	address := serve(t, options(always))
	opened := hold(t, address, 1000,
		"",                                      // nothing at all
		"GET /metrics HTTP/1.1\r\nHost: x\r\nX", // a header that never ends
		"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",                           // an answer, and the connection kept
		"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n1", // a body that never comes
	)
	took := scrape(t, "http://"+address+"/metrics", 3*time.Second) // longer than a header may take
	if opened.Load() <= 1000 {
		t.Error("no connection was ended by the server: nothing was tried")
	}
	if median := took[len(took)/2]; median > time.Second {
		t.Errorf("half of %d scrapes took more than %v", len(took), median)
	}
	t.Logf("%d scrapes, slowest %v; %d connections", len(took), took[len(took)-1], opened.Load())
}
