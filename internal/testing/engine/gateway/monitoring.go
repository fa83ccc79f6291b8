package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// monitoring returns the handler of the management port: the clock as a broker has it.
func (g *Gateway) monitoring() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /actuator/clock", g.clock)
	mux.HandleFunc("POST /actuator/clock/add", g.clock)
	return mux
}

// clock moves the clock, if the call says by how much, and answers with what it shows then.
func (g *Gateway) clock(w http.ResponseWriter, r *http.Request) {
	var b struct{ OffsetMilli int64 }
	if err := json.NewDecoder(r.Body).Decode(&b); err != nil && !errors.Is(err, io.EOF) {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.OffsetMilli != 0 {
		g.setClock(g.offset + time.Duration(b.OffsetMilli)*time.Millisecond)
	}
	now := g.now()
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"epochMilli":%d,"instant":%q}`, now.UnixMilli(), now.UTC().Format(time.RFC3339Nano))
}
