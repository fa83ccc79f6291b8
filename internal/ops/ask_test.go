package ops_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/ops"
	"hospital.example/analyze-retry/internal/testing/certtest"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestAskReturnsTheReasonOfTheWorkerThatServes(t *testing.T) {
	secret := func(o ops.Options) ops.Options { o.Token = token; return o }
	secure := withTLS(t)
	for name, o := range map[string]ops.Options{
		"open": options(always), "with a token": secret(options(always)), "by TLS": secure, "by TLS with a token": secret(secure),
	} {
		t.Run(name, func(t *testing.T) {
			served := o
			served.Address = serve(t, o)
			check.Must(t, ops.Ask(t.Context(), served))

			o.Ready = away
			served.Address = serve(t, o)
			const want = "not ready: gateway zeebe:26500 away for 3 s"
			if err := ops.Ask(t.Context(), served); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestAnAddressWithoutAHostIsAskedHere(t *testing.T) {
	o := options(always)
	_, port, err := net.SplitHostPort(serve(t, o))
	check.Must(t, err)
	for _, host := range []string{"", "0.0.0.0"} {
		o.Address = net.JoinHostPort(host, port)
		err := ops.Ask(t.Context(), o)
		check.Must(t, err)
	}
}

func TestAskRefusesWhatIsNotTheWorker(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>ready</html>"))
	}))
	t.Cleanup(other.Close)
	elsewhere := withTLS(t)
	stranger := elsewhere
	stranger.CertificatePath, stranger.KeyPath = certtest.Files(t)
	stranger.Address = serve(t, elsewhere)
	hangs := options(func(ctx context.Context) error { <-ctx.Done(); return nil })
	hangs.Address = serve(t, hangs)
	guarded := options(away)
	guarded.Token = token
	guarded.Address = serve(t, guarded)
	guarded.Token = "another token"
	for name, c := range map[string]struct {
		asked ops.Options
		want  string
	}{
		"nothing listens":     {ops.Options{Address: closedAddress(t)}, "no worker answers at 127.0.0.1:"},
		"another server":      {ops.Options{Address: strings.TrimPrefix(other.URL, "http://")}, "is no worker: its /readyz has status 200"},
		"another certificate": {stranger, "its certificate is not that of RETRY_HTTP_TLS_CERTIFICATE_PATH"},
		"another token":       {guarded, "not ready"},
		"a worker that hangs": {hangs, "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			patience := time.Minute
			if name == "a worker that hangs" {
				patience = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := ops.Ask(ctx, c.asked); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// closedAddress returns an address at which nothing listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, errors.Join(err, listener.Close()))
	return listener.Addr().String()
}
