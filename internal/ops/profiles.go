package ops

import (
	"net/http"
	"net/http/pprof" // it also registers with the default mux, which nothing here serves

	"go.uber.org/zap"
)

// mostProfiles bounds the connections to the profiles; one person looks at them at a time.
const mostProfiles = 16

// NewProfiles binds an address for profiles of the process, at /debug/pprof/, but serves nothing yet. It must be a loopback
// address, because profiles show what the process works on and cost CPU.
func NewProfiles(address string, log *zap.Logger) (*Server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return listen(purpose{"profiles", "RETRY_PPROF_ADDRESS", mostProfiles}, address, mux, log)
}
