package rest

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/transport"
)

// endless makes a client of a server that answers so, and never ends.
func endless(t *testing.T, begin, again string) *Client {
	t.Helper()
	return served(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", plainJSON)
		_, err := io.WriteString(w, begin)
		for piece := bytes.Repeat([]byte(again), 4096); err == nil; {
			_, err = w.Write(piece)
		}
	})
}

func TestEndlessAnswerCostsLittle(t *testing.T) {
	const most = 8 * transport.MaxAnswer // in all, not at a time
	for name, test := range map[string]struct{ begin, again string }{
		"blanks":     {`{"jobs":[`, " "},
		"jobs":       {`{"jobs":[`, `{"jobKey":"1"},`},
		"a variable": {`{"jobs":[{"variables":{"a":"`, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			c := endless(t, test.begin, test.again)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			jobs, err := activate(t, c, poll)
			runtime.ReadMemStats(&after)
			check.Same(t, codes.ResourceExhausted, transport.Code(err), "code of %v", err)
			taken := after.TotalAlloc - before.TotalAlloc
			if taken > most || len(jobs) > 0 {
				t.Errorf("%d MiB and %d jobs, want %d MiB at most and none", taken>>20, len(jobs), most>>20)
			}
		})
	}
}

func TestRedirectAndMediaTypeDoNotShowTheCredentials(t *testing.T) {
	login := base64.StdEncoding.EncodeToString([]byte("worker:s3cret"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://"+login+".evil.example/")
		w.Header().Set("Content-Type", "text/"+login)
		w.WriteHeader(http.StatusFound)
	}))
	t.Cleanup(server.Close)
	_, err := dial(t, transport.Config{
		Scheme: transport.HTTP, Address: strings.TrimPrefix(server.URL, "http://"), User: "worker", Password: "s3cret",
	}).Topology(t.Context())
	check.Fails(t, err, "is not Camunda's REST API", "***")
	if strings.Contains(strings.ToLower(err.Error()), strings.ToLower(login)) {
		t.Error(err)
	}
}

func TestRESTIsFoundWhereGRPCIsNot(t *testing.T) {
	api := answering(t, 200, plainJSON, `{"partitionsCount":1}`)
	secured := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("credentials went to a port that was tried")
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	page := served(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	for address, want := range map[string]string{
		api.host: "http://" + api.host, secured.host: "http://" + secured.host, page.host: "", "127.0.0.1:1": "",
	} {
		got := Found(t.Context(), transport.Config{Scheme: transport.GRPC, Address: address, User: "worker", Password: "s3cret"})
		check.Same(t, want, got, "address of the REST API for %s", address)
	}
	usual := transport.Config{Scheme: transport.GRPC, Address: "zeebe.example:26500", Dial: func(ctx context.Context, address string) (net.Conn, error) {
		if address != "zeebe.example:8080" {
			return nil, io.EOF
		}
		return new(net.Dialer).DialContext(ctx, "tcp", api.host)
	}}
	check.Same(t, "http://zeebe.example:8080", Found(t.Context(), usual), "address at the usual port")
}
