package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/testing/engine"
)

// jobAction is what happened to jobs of a type, as the broker's metrics name it.
type jobAction struct{ jobType, action string }

// record takes over a record of the engine. The mutex is held.
func (g *Gateway) record(r engine.Record) {
	if r.RecordType == "EVENT" {
		switch r.ValueType {
		case "JOB":
			jobType, _ := r.Value["type"].(string)
			g.counts[jobAction{jobType, strings.ToLower(strings.ReplaceAll(r.Intent, "_", " "))}]++
		case "JOB_BATCH":
			jobType, _ := r.Value["type"].(string)
			keys, _ := r.Value["jobKeys"].([]int64)
			g.counts[jobAction{jobType, "activated"}] += len(keys)
		}
	}
	if g.journal != nil {
		g.journal.record(r)
	}
	if g.options.Record != nil {
		g.options.Record(r)
	}
}

// Monitoring returns the handler of the management port: clock and metrics as a broker has them, and the faults.
func (g *Gateway) Monitoring() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /actuator/clock", g.clock(func(*http.Request) error { return nil }))
	mux.HandleFunc("DELETE /actuator/clock", g.clock(func(*http.Request) error {
		g.setClock(0)
		return nil
	}))
	mux.HandleFunc("POST /actuator/clock/add", g.clock(func(r *http.Request) error {
		var b struct{ OffsetMilli int64 }
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			return err
		}
		g.setClock(g.offset + time.Duration(b.OffsetMilli)*time.Millisecond)
		return nil
	}))
	mux.HandleFunc("GET /actuator/prometheus", g.metrics)
	mux.HandleFunc("POST /faults", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err == nil {
			err = g.InjectText(string(text))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	return mux
}

// clock moves the clock and answers with what it shows then.
func (g *Gateway) clock(move func(*http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if err := move(r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		now := g.now()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"epochMilli":%d,"instant":%q}`, now.UnixMilli(), now.UTC().Format(time.RFC3339Nano))
	}
}

// metrics writes the metrics of a broker that tests read.
func (g *Gateway) metrics(w http.ResponseWriter, _ *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tick()
	fmt.Fprintln(w, "# TYPE zeebe_job_events_total counter")
	for _, c := range slices.SortedFunc(maps.Keys(g.counts), func(a, b jobAction) int {
		return strings.Compare(a.jobType+a.action, b.jobType+b.action)
	}) {
		fmt.Fprintf(w, "zeebe_job_events_total{action=%q,partition=\"1\",type=%q} %d\n", c.action, c.jobType, g.counts[c])
	}
	fmt.Fprintln(w, "# TYPE zeebe_dropped_request_count_total counter")
	fmt.Fprintf(w, "zeebe_dropped_request_count_total{partition=\"1\"} %d\n", g.dropped.Load())
}
