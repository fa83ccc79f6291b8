package ops_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/ops"
)

const token = "0123456789abcdef"

func away(context.Context) error { return errors.New("gateway zeebe:26500 away") }

// guarded serves with a token.
func guarded(t *testing.T) (url string) {
	t.Helper()
	o := options("127.0.0.1:0", away)
	o.Token = token
	s, err := ops.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + run(t, s)
}

func TestTheTokenGuardsMetricsAndReasonsAndNothingElse(t *testing.T) {
	url := guarded(t)
	for _, test := range []struct {
		path, authorization string
		status              int
		body                string // the beginning of it
	}{
		{"/metrics", "Bearer " + token, 200, "# HELP"},
		{"/metrics", "bearer " + token, 200, "# HELP"},
		{"/metrics", "", 401, "the bearer token is missing or wrong"},
		{"/metrics", "Bearer ", 401, "the bearer token"},
		{"/metrics", "Bearer " + token + "0", 401, "the bearer token"},
		{"/metrics", "Bearer " + token[1:], 401, "the bearer token"},
		{"/metrics", "Basic " + token, 401, "the bearer token"},
		{"/metrics", token, 401, "the bearer token"},
		{"/metrics?token=" + token, "", 401, "the bearer token"},
		{"/readyz", "Bearer " + token, 503, "not ready: gateway zeebe:26500 away\n"},
		{"/readyz", "", 503, "not ready\n"}, // from this host too: a proxy may stand here
		{"/readyz", "Bearer wrong", 503, "not ready\n"},
		{"/healthz", "", 200, "ok\n"},
	} {
		t.Run(test.path+" "+test.authorization, func(t *testing.T) {
			response := get(t, client, url+test.path, test.authorization)
			if response.StatusCode != test.status || !strings.HasPrefix(response.body, test.body) {
				t.Errorf("got %d %q, want %d %q", response.StatusCode, response.body, test.status, test.body)
			}
			challenge := response.Header.Get("WWW-Authenticate")
			if want := `Bearer realm="analyze-retry"`; (response.StatusCode == 401) != (challenge == want) {
				t.Errorf("the challenge is %q", challenge)
			}
			if strings.Contains(response.body, token) {
				t.Error("the answer shows the token")
			}
		})
	}
}

func TestReadyIsSaidToEverybody(t *testing.T) {
	o := options("127.0.0.1:0", always)
	o.Token = token
	s, err := ops.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := request(t, "GET", "http://"+run(t, s)+"/readyz"); status != 200 || body != "ready\n" {
		t.Errorf("got %d %q", status, body)
	}
}

func TestProfilesAreServedAtTheirOwnAddressOnly(t *testing.T) {
	for path := range strings.FieldsSeq("/debug/pprof/ /debug/pprof/heap /debug/pprof/profile /debug/pprof/cmdline") {
		if status, _ := request(t, "GET", serve(t, always)+path); status != 404 {
			t.Errorf("the metrics port answers %s with %d", path, status)
		}
	}
	s, err := ops.NewProfiles("127.0.0.1:0", options("", nil).Logger)
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + run(t, s)
	for path, want := range map[string]int{
		"/debug/pprof/": 200, "/debug/pprof/heap": 200, "/debug/pprof/profile?seconds=1": 200, "/debug/pprof/trace?seconds=0.1": 200,
		"/metrics": 404, "/": 404,
	} {
		if status, body := request(t, "GET", url+path); status != want {
			t.Errorf("%s: got %d %.80q, want %d", path, status, body, want)
		}
	}
}

// answer is a response whose body was read.
type answer struct {
	*http.Response
	body string
}

func get(t *testing.T, by *http.Client, url, authorization string) answer {
	t.Helper()
	a, err := tryGet(t.Context(), by, url, authorization)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func tryGet(ctx context.Context, by *http.Client, url, authorization string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return answer{}, err
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	response, err := by.Do(req)
	if err != nil {
		return answer{}, err
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return answer{}, fmt.Errorf("read the answer: %w", err)
	}
	return answer{response, string(text)}, nil
}
