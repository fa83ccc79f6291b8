package rest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

// wire is a job as 8.8 writes it, with these variables.
func wire(key, variables string) string {
	return fmt.Sprintf(`{"type":"t","processDefinitionId":"p","processDefinitionVersion":1,"elementId":"e","customHeaders":{},"worker":"w",`+
		`"retries":3,"deadline":1757280974277,"variables":%s,"tenantId":"<default>","jobKey":%s,"processInstanceKey":%s,"kind":"BPMN_ELEMENT",`+
		`"userTask":null,"tags":[]}`, variables, key, key)
}

func TestKeysAreReadToTheLastDigit(t *testing.T) {
	jobs, err := activate(t, answering(t, 200, plainJSON, `{"jobs":[`+wire(`"9223372036854775807"`, `{}`)+`]}`), poll)
	check.Must(t, err)
	if len(jobs) != 1 || jobs[0].Key != 1<<63-1 || jobs[0].ProcessInstanceKey != 1<<63-1 {
		t.Errorf("%+v", jobs)
	}
}

func TestNumbersOfAnAnswerStayAsTheyAre(t *testing.T) {
	sent := make(chan string, 1)
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		sent <- string(text)
		w.WriteHeader(http.StatusNoContent)
	})
	check.Must(t, c.Answer(t.Context(), job.Job{Key: 1}, job.Complete(`{"n":12345678901234567890.10,"m":1e400,"s":"é\u2028"}`)))
	check.Same(t, `{"variables":{"n":12345678901234567890.10,"m":1e400,"s":"é\u2028"}}`, <-sent, "request")
	err := c.Answer(t.Context(), job.Job{Key: 1}, job.Complete(`{"secret":`))
	check.Same(t, codes.InvalidArgument, transport.Code(err), "code")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("%v repeats the variables", err)
	}
}

func TestOnlyHealthyLeadersLead(t *testing.T) {
	c := answering(t, 200, plainJSON, `{"gatewayVersion":"8.9.3","partitionsCount":3,"clusterId":null,"brokers":[{"nodeId":0,"partitions":[
		{"partitionId":1,"role":"leader","health":"healthy"},{"partitionId":2,"role":"leader","health":"unhealthy"},
		{"partitionId":3,"role":"follower","health":"healthy"}]},{"partitions":[{"partitionId":1,"role":"leader","health":"healthy"}]}]}`)
	got, err := c.Topology(t.Context())
	check.Must(t, err)
	check.Same(t, transport.Topology{Version: "8.9.3", Partitions: 3, Led: 1}, got, "topology")
}

func TestCallsShowWhatTheyAreTo(t *testing.T) {
	requests := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	c := dial(t, config.Cluster{ZeebeAddress: server.URL + "/orchestration", BasicUser: "worker", BasicPassword: "é:x"})
	check.Must(t, c.ExtendLock(t.Context(), job.Job{Key: 1<<63 - 1}, time.Second))
	r := <-requests
	user, password, _ := r.BasicAuth()
	check.Same(t, []string{"PATCH", "/orchestration/v2/jobs/9223372036854775807", "worker", "é:x"},
		[]string{r.Method, r.URL.Path, user, password}, "call")
}

// counting makes a client of a server that counts its connections.
func counting(t *testing.T, handler http.HandlerFunc) (c transport.Client, made *atomic.Int32) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	made = &atomic.Int32{}
	c, err := Dial(transport.Config{Cluster: config.Cluster{ZeebeAddress: server.URL}, Dial: func(ctx context.Context, address string) (net.Conn, error) {
		made.Add(1)
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}})
	check.Must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c, made
}

func TestParallelAnswersReuseTheirConnections(t *testing.T) {
	const parallel = 32
	var together sync.WaitGroup
	c, made := counting(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		together.Done()
		together.Wait()
		w.WriteHeader(http.StatusNoContent)
	})
	for range 5 {
		together.Add(parallel)
		var answers sync.WaitGroup
		for range parallel {
			answers.Go(func() {
				if err := c.Answer(t.Context(), job.Job{Key: 1}, job.Complete("{}")); err != nil {
					t.Error(err)
				}
			})
		}
		answers.Wait()
	}
	check.Same(t, parallel, made.Load(), "connections")
}

// A try that is made behind the loop's back could be accepted, and its repetition not found.
func TestAnswerOnADyingConnectionIsSentOnce(t *testing.T) {
	var sent atomic.Int32
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if sent.Add(1) > 1 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	check.Must(t, c.Answer(t.Context(), job.Job{Key: 1}, job.Complete("{}")))
	err := c.Answer(t.Context(), job.Job{Key: 2}, job.Complete("{}"))
	check.Same(t, codes.Unavailable, transport.Code(err), "code of %v", err)
	check.Same(t, 2, sent.Load(), "answers sent")
}
