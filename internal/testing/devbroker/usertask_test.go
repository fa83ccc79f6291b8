package devbroker

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestUserTaskIsCompletedAtThePathOfItsVersion(t *testing.T) {
	var called, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		check.Must(t, err)
		called, body = r.Method+" "+r.URL.Path, string(raw)
		if strings.Contains(r.URL.Path, "/404/") {
			http.Error(w, "no such user task", http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	check.Must(t, err)
	port, err := strconv.Atoi(at.Port())
	check.Must(t, err)
	for version, path := range map[string]string{"8.5.8": "v1", "8.6.0": "v2", "8.8.21": "v2"} {
		b := &Broker{at: State{Version: version, Ports: Ports{REST: port}}}
		check.Must(t, b.CompleteUserTask(t.Context(), 7, nil))
		check.Same(t, "POST /"+path+"/user-tasks/7/completion", called, "the call on %s", version)
		check.Same(t, `{"variables":{}}`, body, "the body without variables")
		check.Must(t, b.CompleteUserTask(t.Context(), 7, map[string]any{"a": 1}))
		check.Same(t, `{"variables":{"a":1}}`, body, "the body")
		if err := b.CompleteUserTask(t.Context(), 404, nil); err == nil || !strings.Contains(err.Error(), "no such user task") {
			t.Errorf("the completion of an unknown task: %v, want what the broker answered", err)
		}
	}
}
