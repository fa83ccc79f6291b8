package ops

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
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

// Ask returns nil if the worker that serves with these options is ready, else why it is not. Of the options
// it uses address and token. An address without a host, or for all hosts, is asked on this host.
func Ask(ctx context.Context, o Options) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.Address+"/readyz", nil)
	if err != nil {
		return err
	}
	request.Host = "localhost" // which is answered wherever the address leads
	if o.Token != "" {
		request.Header.Set("Authorization", "Bearer "+o.Token)
	}
	transport := http.Transport{DisableKeepAlives: true} // without the environment's proxy
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10)) // what breaks off is no answer of a worker
	answer, status := strings.TrimSpace(string(text)), response.StatusCode
	switch {
	case status == http.StatusOK && answer == "ready":
		return nil
	case status == http.StatusServiceUnavailable && strings.HasPrefix(answer, "not ready"):
		return errors.New(answer)
	default:
		return fmt.Errorf("what answers at %s is no worker: its /readyz has status %d", o.Address, status)
	}
}
