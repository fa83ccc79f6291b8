package ops

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"hospital.example/analyze-retry/internal/config/connurl"
)

// handler returns the handler of all paths.
func (o *Options) handler() http.Handler {
	scrape := promhttp.HandlerFor(o.Metrics, promhttp.HandlerOpts{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if !o.mayRead(r) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="analyze-retry"`)
			answer(w, http.StatusUnauthorized, "the bearer token is not that of RETRY_HTTP_TOKEN")
			return
		}
		o.Refresh()
		scrape.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /readyz", o.readyz)
	return mux
}

// onlyHere answers only who asks for this host by a loopback name. A page in a browser here, whose own name
// its owner has pointed to loopback, must read nothing.
func onlyHere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := url.URL{Host: r.Host}
		if !connurl.IsLoopback(strings.ToLower(asked.Hostname())) {
			answer(w, http.StatusMisdirectedRequest, "this worker listens on loopback only: ask for "+
				"localhost, or set RETRY_HTTP_ADDRESS to an address that others reach")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// mayRead reports whether a request shows the token, in a time that tells its length at most. Without one
// everybody may read.
func (o *Options) mayRead(r *http.Request) bool {
	if o.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	same := subtle.ConstantTimeCompare([]byte(token), []byte(o.Token)) == 1
	return same && strings.EqualFold(scheme, "Bearer")
}

// readyz answers whether the worker is ready. Reasons name hosts and repeat errors, so they are for those who
// may read the metrics. Probes, which cannot show a secret, need no reason.
func (o *Options) readyz(w http.ResponseWriter, r *http.Request) {
	err := o.Ready()
	switch {
	case err == nil:
		answer(w, http.StatusOK, "ready")
	case o.mayRead(r):
		answer(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
	default:
		answer(w, http.StatusServiceUnavailable, "not ready")
	}
}

// answer answers with one line of plain text. Errors of other libraries may contain line breaks.
func answer(w http.ResponseWriter, status int, text string) {
	http.Error(w, strings.Join(strings.Fields(text), " "), status)
}
