package ops_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/ops"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestAskReturnsTheReasonOfTheWorkerThatServes(t *testing.T) {
	for _, secret := range []string{"", token} {
		o := options(always)
		o.Token = secret
		_, port, err := net.SplitHostPort(serve(t, o))
		check.Must(t, err)
		for _, host := range []string{"127.0.0.1", "localhost", "", "0.0.0.0"} { // the last two are all hosts
			check.Must(t, ops.Ask(t.Context(), ops.Options{Address: net.JoinHostPort(host, port), Token: secret}))
		}
		o.Ready = away
		err = ops.Ask(t.Context(), ops.Options{Address: serve(t, o), Token: secret})
		check.Fails(t, err, "not ready: gateway zeebe:26500 away for 3 s")
	}
}

func TestAskRefusesWhatIsNotTheWorker(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>ready</html>"))
	}))
	t.Cleanup(other.Close)
	guarded := options(away)
	guarded.Token = token
	guarded.Address = serve(t, guarded)
	guarded.Token = "another token"
	for name, c := range map[string]struct {
		asked ops.Options
		want  string
	}{
		"nothing listens": {ops.Options{Address: "127.0.0.1:1"}, "dial tcp 127.0.0.1:"},
		"another server":  {ops.Options{Address: strings.TrimPrefix(other.URL, "http://")}, "is no worker: its /readyz has status 200"},
		"another token":   {guarded, "not ready"},
	} {
		t.Run(name, func(t *testing.T) { check.Fails(t, ops.Ask(t.Context(), c.asked), c.want) })
	}
}
