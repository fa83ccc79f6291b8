package main

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

// canary stands in every secret: where it shows, a secret would.
const canary = "c4n4ry-0123456789"

// wantNoCanary fails where a text shows the canary, as it is or in a form that everybody can read.
func wantNoCanary(t *testing.T, what, text string) {
	t.Helper()
	forms := []string{canary, hex.EncodeToString([]byte(canary))}
	for shift := range 3 { // base64 of "user:secret" shows it shifted
		encoded := base64.StdEncoding.EncodeToString([]byte("xxx"[:shift] + canary))
		forms = append(forms, encoded[4:len(encoded)-4])
	}
	for _, form := range forms {
		if at := strings.Index(strings.ToLower(text), strings.ToLower(form)); at >= 0 {
			t.Errorf("%s: the secret shows: ...%s...", what, text[max(0, at-200):min(len(text), at+200)])
		}
	}
}

// secretFile is a file with a secret.
func secretFile(t *testing.T, secret string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	check.Must(t, os.WriteFile(path, []byte(secret+"\n"), 0o600))
	return path
}

// unreachable is an address of this host where nothing listens.
const unreachable = "127.0.0.1:1"

func TestNoCommandShowsASecret(t *testing.T) {
	good := []string{
		"RETRY_HTTP_TOKEN=" + canary,
		"RETRY_EVENTS_URL=amqp://worker:" + canary + "@" + unreachable + "/",
		"RETRY_DATABASE_URL=postgres://worker:" + canary + "@" + unreachable + "/retry?connect_timeout=2",
		"RETRY_AUDIT_KEY_FILE=" + secretFile(t, canary),
		"ZEEBE_ADDRESS=" + unreachable,
		"ZEEBE_CLIENT_ID=worker",
		"ZEEBE_CLIENT_SECRET=" + canary,
		"ZEEBE_TOKEN_AUDIENCE=zeebe-api",
		"ZEEBE_AUTHORIZATION_SERVER_URL=http://" + unreachable + "/token",
	}
	// Every secret at a place, or in a shape, where it is a fault.
	faulty := []string{
		"RETRY_HTTP_TOKEN= " + canary,
		"RETRY_HTTP_TOKEN_FILE=" + canary,
		"RETRY_EVENTS_URL=" + canary,
		"RETRY_DATABASE_URL=" + canary,
		"RETRY_DATABASE_PASSWORD=" + canary,
		"ZEEBE_CLIENT_SECRET=\t" + canary,
		"ZEEBE_AUTHORIZATION_SERVER_URL=https://worker:" + canary + "@login.example/",
		"ZEEBE_ADDRESS=http://worker:" + canary + "@zeebe:26500",
		"CAMUNDA_BASIC_AUTH_USERNAME=worker:" + canary,
	}
	for _, test := range []struct {
		name, args string
		settings   []string
		status     string // how it ends
	}{
		{"the configuration", "config --json", good, "exit status 0"},
		{"a start with faults", "run", faulty, "exit status 2"},
		{"a start with a key that is none", "run", good, "exit status 1"},
		{"a deployment without a token", "deploy", good, "exit status 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := start(t, strings.Fields(test.args), test.settings...)
			how := p.end()
			all := p.stdout.String() + p.stderr.String()
			wantNoCanary(t, "the output", all)
			if how != test.status || all == "" {
				t.Errorf("ended with %q, want %q: %s", how, test.status, all)
			}
		})
	}
}

// loose answers with what it is asked, as a server does that says too much.
func loose(t *testing.T) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.Contains(string(body), canary) {
			t.Errorf("the secret was not sent here: %v", err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"error":"%s","error_description":"no client with %s"}`, canary, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestAWorkerThatRunsShowsNoSecret(t *testing.T) {
	for _, test := range []struct {
		name     string
		settings []string
		lost     string // the event to wait for, by when the secret was used
		reason   string // of /readyz, for who shows the token
	}{
		{"RabbitMQ is not there", []string{"RETRY_EVENTS_URL=amqp://worker:" + canary + "@" + unreachable + "/"}, "events_wait", "ready\n"},
		{"no token is to be had", []string{
			"ZEEBE_CLIENT_ID=worker", "ZEEBE_CLIENT_SECRET_FILE=" + secretFile(t, canary), "ZEEBE_TOKEN_AUDIENCE=zeebe-api",
			"ZEEBE_AUTHORIZATION_SERVER_URL=" + loose(t) + "/token",
		}, "gateway_lost", "the authorization server answered 401"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, setting := gateway(t)
			addJob(g)
			p := start(t, nil, append(append([]string{setting}, test.settings...), "RETRY_HTTP_TOKEN="+canary, "RETRY_LOG_LEVEL=debug")...)
			address := fmt.Sprint(p.await("worker_started")["httpAddress"])
			p.await(test.lost)
			for _, ask := range []struct{ url, authorization, want string }{
				{"http://" + address + "/metrics", "Bearer " + canary, "retry_gateway_up "},
				{"http://" + address + "/metrics", "Bearer x" + canary, "the bearer token is not that of RETRY_HTTP_TOKEN"},
				{"http://" + address + "/readyz", "Bearer " + canary, test.reason},
				{"http://" + address + "/readyz", "", "ready\n"},
			} {
				var answer string
				check.Await(t, ask.url+" answers "+ask.want, func() bool { // not every loop has polled when the event comes
					answer = wholeAnswer(t, ask.url, ask.authorization)
					return strings.Contains(answer, ask.want)
				})
				wantNoCanary(t, ask.url, answer)
			}
			p.signal(syscall.SIGQUIT) // what Go prints when it panics
			_ = p.end()
			check.Contains(t, p.stderr.String(), "goroutine")
			wantNoCanary(t, "the log", p.stdout.String())
			wantNoCanary(t, "the stacks", p.stderr.String())
		})
	}
}

// wholeAnswer is all of an answer, head and body.
func wholeAnswer(t *testing.T, url, authorization string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	check.Must(t, err)
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}).Do(request)
	check.Must(t, err)
	body, err := io.ReadAll(response.Body)
	check.Must(t, errors.Join(err, response.Body.Close()))
	return fmt.Sprint(response.Header) + string(body)
}
