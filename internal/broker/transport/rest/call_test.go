package rest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

const (
	plainJSON   = "application/json"
	problemJSON = "application/problem+json"
	html        = "text/html; charset=utf-8"
)

func TestCodeFollowsStatusAndTitle(t *testing.T) {
	for _, test := range []struct {
		status int
		title  string
		want   codes.Code
	}{
		{400, "INVALID_ARGUMENT", codes.InvalidArgument},
		{401, "Unauthorized", codes.Unauthenticated},
		{401, "UNAUTHORIZED", codes.PermissionDenied}, // for a tenant
		{404, "NOT_FOUND", codes.NotFound},
		{404, "Not Found", codes.Unavailable}, // a path that is not there
		{409, "INVALID_STATE", codes.FailedPrecondition},
		{413, "Payload Too Large", codes.InvalidArgument},
		{429, "RESOURCE_EXHAUSTED", codes.ResourceExhausted}, // by a proxy
		{503, "RESOURCE_EXHAUSTED", codes.ResourceExhausted},
	} {
		body := fmt.Sprintf(`{"type":"about:blank","title":%q,"status":%d,"detail":"why","instance":"/v2/jobs/1/completion"}`, test.title, test.status)
		for _, kind := range []string{problemJSON, plainJSON} {
			err := answering(t, test.status, kind, body).Answer(t.Context(), job.Job{Key: 1}, job.Complete("{}"))
			check.Same(t, test.want, transport.Code(err), "code of %d %s", test.status, test.title)
			check.Contains(t, err.Error(), fmt.Sprint(test.status))
		}
	}
}

// What a proxy or another program answers must not be taken for the cluster's word on a job.
func TestPageOfAnotherProgramIsNoWordOnAJob(t *testing.T) {
	for status, want := range map[int]codes.Code{
		200: codes.Unavailable, 404: codes.Unavailable, 409: codes.Unavailable, 500: codes.Internal, 503: codes.Unavailable,
	} {
		for _, answer := range []struct{ kind, body string }{
			{html, "<html>login</html>"}, {"", ""}, {plainJSON, `{"status":404,"error":"Not Found"}`}, {"text/plain", "NOT_FOUND"},
		} {
			c := answering(t, status, answer.kind, answer.body)
			err := c.Answer(t.Context(), job.Job{Key: 1}, job.Complete("{}"))
			check.Same(t, want, transport.Code(err), "code of %d %s", status, answer.kind)
			if _, err := c.Topology(t.Context()); err == nil {
				t.Errorf("%d %s is taken for a topology", status, answer.kind)
			}
			if _, err := c.Deploy(t.Context(), "", nil); err == nil {
				t.Errorf("%d %s is taken for a deployment", status, answer.kind)
			}
			if jobs, err := activate(t, c, poll); err == nil || len(jobs) > 0 {
				t.Errorf("%d %s is taken for jobs", status, answer.kind)
			}
		}
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := served(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/login?token=secret", status)
		})
		_, err := c.Topology(t.Context())
		check.Same(t, codes.Unavailable, transport.Code(err), "code of %v", err)
		check.Fails(t, err, "is not Camunda's REST API: HTTP status 30")
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%v repeats the URL", err)
		}
	}
	check.Same(t, 0, reached.Load(), "calls of the other host")
}

func TestCredentialsInAMediaTypeAreMasked(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.Header.Get("Authorization"))
	}))
	defer server.Close()
	c := dial(t, config.Cluster{ZeebeAddress: server.URL, BasicUser: "demo", BasicPassword: "secret"})
	_, err := c.Topology(t.Context())
	check.Fails(t, err, `content of type "Basic ***"`)
}

func TestUndeliverablePollIsLost(t *testing.T) {
	for name, c := range map[string]transport.Client{
		"not written":   answering(t, 500, problemJSON, `{"title":"Internal Server Error","detail":"Failed to write request"}`),
		"begun":         answering(t, 200, plainJSON, `{"jobs":[{"jobKey":"1","variables":{"a":[[[[{"type":"about:blank"`),
		"begun, closed": answering(t, 200, plainJSON, `{"jobs":[{"jobKey":"1","variables":{"a":[[[[}{"type":"about:blank"}`),
		"an odd job":    answering(t, 200, plainJSON, `{"jobs":[`+wire(`"7"`, `{}`)+`,{"jobKey":"9999999999999999999999"}]}`),
	} {
		_, err := activate(t, c, poll)
		if !errors.Is(err, transport.ErrLost) || transport.Code(err) != codes.Internal {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := activate(t, answering(t, 500, problemJSON, `{"title":"INTERNAL","detail":"no"}`), poll)
	if errors.Is(err, transport.ErrLost) {
		t.Error("an error of the broker counts as a lost poll")
	}
}
