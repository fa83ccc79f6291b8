package devbroker

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

// monitored is a broker whose monitoring port answers as the real one does.
func monitored(t *testing.T) *Broker {
	t.Helper()
	var mu sync.Mutex
	offset := int64(0)
	answer := func(w http.ResponseWriter) {
		fmt.Fprintf(w, `{"epochMilli":%d,"instant":"..."}`, 1_700_000_000_000+offset)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /actuator/clock", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		answer(w)
	})
	mux.HandleFunc("POST /actuator/clock/add", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var body struct{ OffsetMilli int64 }
		if json.NewDecoder(r.Body).Decode(&body) != nil || r.Header.Get("Content-Type") != "application/json" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		offset += body.OffsetMilli
		answer(w)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	check.Must(t, err)
	number, err := strconv.Atoi(port)
	check.Must(t, err)
	return &Broker{at: State{Dir: t.TempDir(), Ports: Ports{Monitoring: number}}}
}

func TestTheClockIsMovedAndStaysMovedOverARestart(t *testing.T) {
	b := monitored(t)
	began, err := b.Now(t.Context())
	check.Must(t, err)
	if want := time.UnixMilli(1_700_000_000_000); !began.Equal(want) || began.Location() != time.UTC {
		t.Errorf("it shows %v, want %v", began, want)
	}
	for _, by := range []time.Duration{6 * time.Minute, time.Hour} {
		if _, err := b.Advance(t.Context(), by); err != nil {
			t.Fatal(err)
		}
	}
	if now, err := b.Now(t.Context()); err != nil || now.Sub(began) != 66*time.Minute {
		t.Errorf("it went %v forward (%v)", now.Sub(began), err)
	}

	restarted := monitored(t) // a broker that starts has the time of the machine
	restarted.at.Dir = b.at.Dir
	check.Must(t, restarted.restoreClock(t.Context()))
	if now, err := restarted.Now(t.Context()); err != nil || now.Sub(began) != 66*time.Minute {
		t.Errorf("after a restart it is %v ahead (%v)", now.Sub(began), err)
	}
}
