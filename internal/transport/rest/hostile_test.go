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
	"testing/iotest"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"
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
	for name, test := range map[string]struct {
		begin, again string
		code         codes.Code
	}{
		"blanks":     {`{"jobs":[`, " ", codes.ResourceExhausted},
		"jobs":       {`{"jobs":[`, `{"jobKey":"1"},`, codes.OK},
		"a variable": {`{"jobs":[{"variables":{"a":"`, "x", codes.ResourceExhausted},
	} {
		t.Run(name, func(t *testing.T) {
			c := endless(t, test.begin, test.again)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			jobs, err := activate(t, c, poll)
			runtime.ReadMemStats(&after)
			check.Same(t, test.code, transport.Code(err), "code of %v", err)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > most || len(jobs) > poll.Max+1 {
				t.Errorf("%d MiB and %d jobs, want %d MiB at most and one job too many", taken>>20, len(jobs), most>>20)
			}
		})
	}
}

func TestLargeAnswersAreReadOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := semaphore.NewWeighted(1)
		read := func(limited context.Context, from io.Reader) (n int64, b *body, err error) {
			b = &body{Reader: from, ctx: limited, turn: turn}
			n, err = io.Copy(io.Discard, b)
			return n, b, err
		}
		text := strings.Repeat("x", 2*large)
		chunks := func(text string) io.Reader { return iotest.HalfReader(strings.NewReader(text)) }
		_, first, _ := read(t.Context(), chunks(text))
		late, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if n, _, err := read(late, chunks(text)); n == int64(len(text)) || err == nil {
			t.Errorf("%d bytes of another answer were read", n)
		}
		if n, _, _ := read(t.Context(), chunks(text[:large/2])); n != large/2 {
			t.Errorf("%d bytes of a small answer were read", n)
		}
		first.done()
		if n, _, _ := read(t.Context(), chunks(text)); n != 2*large {
			t.Errorf("%d bytes were read when it was its turn", n)
		}
	})
}

func TestRedirectAndMediaTypeDoNotShowTheCredentials(t *testing.T) {
	basic := &transport.Basic{User: "worker", Password: "s3cret"}
	login := base64.StdEncoding.EncodeToString([]byte("worker:s3cret"))
	for name, header := range map[string]string{
		"Location":     "https://" + login + ".evil.example/",
		"Content-Type": "text/" + login,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(name, header)
			if name == "Location" {
				w.WriteHeader(http.StatusFound)
			}
		}))
		t.Cleanup(server.Close)
		address := strings.TrimPrefix(server.URL, "http://")
		_, err := dial(t, transport.Config{Scheme: transport.HTTP, Address: address, Basic: basic}).Topology(t.Context())
		check.Fails(t, err, "is not Camunda's REST API", "***")
		if strings.Contains(strings.ToLower(err.Error()), strings.ToLower(login)) {
			t.Errorf("%s: %v", name, err)
		}
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
	basic := &transport.Basic{User: "worker", Password: "s3cret"}
	for address, want := range map[string]string{
		api.host: "http://" + api.host, secured.host: "http://" + secured.host, page.host: "", "127.0.0.1:1": "",
	} {
		got := Found(t.Context(), transport.Config{Scheme: transport.GRPC, Address: address, Basic: basic})
		check.Same(t, want, got, "address of the REST API for %s", address)
	}
	usual := transport.Config{Scheme: transport.GRPC, Address: "zeebe.example:26500", Dial: func(ctx context.Context, address string) (net.Conn, error) {
		if address != "zeebe.example:"+usualPort {
			return nil, io.EOF
		}
		return new(net.Dialer).DialContext(ctx, "tcp", api.host)
	}}
	check.Same(t, "http://zeebe.example:8080", Found(t.Context(), usual), "address at the usual port")
	usual.Scheme = transport.HTTP
	check.Same(t, "", Found(t.Context(), usual), "address for one of REST")
}
