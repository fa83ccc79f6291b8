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
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
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
		jobs         int // at least
	}{
		"blanks":     {`{"jobs":[`, " ", 0},
		"jobs":       {`{"jobs":[`, wire(`"1"`, `{}`) + ",", 20_000}, // those in front of the limit
		"a variable": {`{"jobs":[{"variables":{"a":"`, "x", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := endless(t, test.begin, test.again)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			jobs := 0
			err := c.Activate(t.Context(), poll, func(some []job.Job) { jobs += len(some) })
			runtime.ReadMemStats(&after)
			check.Same(t, codes.ResourceExhausted, transport.Code(err), "code of %v", err)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > most || jobs < test.jobs {
				t.Errorf("%d MiB and %d jobs, want %d MiB at most and %d jobs", taken>>20, jobs, most>>20, test.jobs)
			}
		})
	}
}

// Of refusals 32 are read at a time, in a pod of 128 MiB. The answer may have been passed on all the same.
func TestEndlessRefusalCostsLittle(t *testing.T) {
	c := served(t, func(w http.ResponseWriter, _ *http.Request) {
		var err error
		for piece := bytes.Repeat([]byte(" "), 4096); err == nil; {
			_, err = w.Write(piece)
		}
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := c.Answer(t.Context(), job.Job{Key: 1}, job.Complete("{}"))
	runtime.ReadMemStats(&after)
	check.Same(t, codes.Unavailable, transport.Code(err), "code of %v", err)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
		t.Errorf("%d KiB for one", taken>>10)
	}
}

func TestLargeAnswersAreReadOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := enginetest.New()
		t.Cleanup(g.Close)
		c := dial(t, transport.Config{Scheme: transport.HTTP, Address: "127.0.0.1:1", Dial: g.PipeREST()})
		for range 3 {
			g.Add(enginetest.Job{Type: "large", Variables: `{"a":"` + strings.Repeat("x", 2<<20) + `"}`})
		}
		g.Add(enginetest.Job{Type: "small", Variables: `{}`})
		read := func(jobType string, received func([]job.Job)) codes.Code {
			late, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			p := poll
			p.JobType, p.Max = jobType, 1
			return transport.Code(c.Activate(late, p, received))
		}
		code := read("large", func([]job.Job) {
			check.Same(t, codes.DeadlineExceeded, read("large", func([]job.Job) { t.Error("another was read") }), "code")
			got := 0
			check.Same(t, codes.OK, read("small", func(jobs []job.Job) { got += len(jobs) }), "code")
			check.Same(t, 1, got, "small answers that were read")
		})
		check.Same(t, codes.OK, code, "code")
		got := 0
		check.Same(t, codes.OK, read("large", func(jobs []job.Job) { got += len(jobs) }), "code when it is its turn")
		check.Same(t, 1, got, "large answers that were read then")
	})
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
