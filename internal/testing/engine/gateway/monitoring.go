package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"hospital.example/analyze-retry/internal/testing/engine"
)

// record takes over a record of the engine. The mutex is held.
func (g *Gateway) record(r engine.Record) {
	if g.journal != nil {
		g.journal.record(r)
	}
	if g.options.Record != nil {
		g.options.Record(r)
	}
}

// Monitoring returns the handler of the management port: the clock as a broker has it, and the faults.
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
