package devbroker

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
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
	must(t, err)
	number, err := strconv.Atoi(port)
	must(t, err)
	return &Broker{at: instance{Dir: t.TempDir(), Ports: Ports{Monitoring: number}}}
}

func TestTheClockIsMovedAndStaysMovedOverARestart(t *testing.T) {
	b := monitored(t)
	began, err := b.Now(t.Context())
	must(t, err)
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
	must(t, restarted.restoreClock(t.Context()))
	if now, err := restarted.Now(t.Context()); err != nil || now.Sub(began) != 66*time.Minute {
		t.Errorf("after a restart it is %v ahead (%v)", now.Sub(began), err)
	}
}

func TestTheClockGoesForwardOnly(t *testing.T) {
	b := monitored(t)
	for _, by := range []time.Duration{0, -time.Hour, time.Microsecond} {
		if _, err := b.Advance(t.Context(), by); err == nil {
			t.Errorf("%v: no error", by)
		}
	}
}

func TestAnAnswerThatIsNoneIsAnError(t *testing.T) {
	_, err := monitored(t).Metrics(t.Context())
	if err == nil || !strings.Contains(err.Error(), "GET /actuator/prometheus: the broker answered 404") {
		t.Errorf("got %v", err)
	}
}

func TestMetricsAreAddedUpByNameAndLabels(t *testing.T) {
	m, err := parseMetrics([]byte(`# HELP zeebe_job_events_total Number of job events
# TYPE zeebe_job_events_total counter
zeebe_job_events_total{action="created",partition="1",type="analyze-retry",} 3.0
zeebe_job_events_total{action="completed",partition="1",type="analyze-retry",} 2.0
zeebe_job_events_total{action="created",partition="1",type="submit-claim",} 5.0
# HELP zeebe_pending_incidents_total Number of pending incidents
# TYPE zeebe_pending_incidents_total gauge
zeebe_pending_incidents_total{partition="1",} 1.0
# TYPE zeebe_latency histogram
zeebe_latency_bucket{le="0.1",} 4.0
zeebe_latency_bucket{le="+Inf",} 7.0
zeebe_latency_count 7.0
zeebe_latency_sum 1.5
`))
	must(t, err)
	for _, c := range []struct {
		name   string
		labels map[string]string
		want   float64
	}{
		{"zeebe_job_events_total", map[string]string{"type": "analyze-retry", "action": "created"}, 3},
		{"zeebe_job_events_total", map[string]string{"type": "analyze-retry"}, 5},
		{"zeebe_job_events_total", nil, 10},
		{"zeebe_job_events_total", map[string]string{"type": "other"}, 0},
		{"zeebe_job_events_total", map[string]string{"nolabel": "x"}, 0},
		{"zeebe_pending_incidents_total", nil, 1},
		{"zeebe_latency_count", nil, 7},
		{"zeebe_latency_sum", nil, 1.5},
		{"zeebe_no_such_metric", nil, 0},
	} {
		if got := m.Sum(c.name, c.labels); got != c.want {
			t.Errorf("%s %v: got %v, want %v", c.name, c.labels, got, c.want)
		}
	}
}
