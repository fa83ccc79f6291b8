// Package rest connects to a Camunda 8 cluster by its Orchestration Cluster REST API (v2), which Camunda has
// from 8.8 on.
package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
)

// client implements [transport.Client].
type client struct {
	base       string // of the URLs
	authorizer *transport.Authorizer
	http       *http.Transport
}

// Dial prepares the connection to a gateway. It does not wait for the gateway, which may come up later. Its
// error names everything that is wrong with the configuration, one fault a line.
func Dial(c transport.Config) (transport.Client, error) {
	secured, err := c.TLS()
	if err != nil {
		return nil, err
	}
	by := http.DefaultTransport.(*http.Transport).Clone()
	by.TLSClientConfig = secured
	by.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second} // or a dead connection would stay in use
	// Where HTTP/2 is not spoken the job loop sends 32 answers at a time, next to a poll and a query.
	by.MaxIdleConnsPerHost = 34
	// Servers and proxies close theirs after a minute, as a rule. A call that is sent just then is lost.
	by.IdleConnTimeout = 10 * time.Second
	by.MaxResponseHeaderBytes = 64 << 10
	if c.Dial != nil { // as with gRPC, the environment's proxies are for connections that are made here
		by.Proxy = nil
		by.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) {
			return c.Dial(ctx, address)
		}
	}
	return &client{base: c.Address().JoinPath("v2").String(), authorizer: c.Authorizer(), http: by}, nil
}

func (c *client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Activate implements [transport.Client]. The answer to a poll is one message, of which all or nothing can be
// read.
func (c *client) Activate(ctx context.Context, p transport.Poll, received func([]job.Job)) error {
	var activated struct{ Jobs []activatedJob }
	err := c.call(ctx, "POST /jobs/activation", activation{
		Poll:           p,
		Timeout:        p.JobTimeout.Milliseconds(),
		RequestTimeout: p.Wait.Milliseconds(),
		TenantIDs:      []string{p.Tenant},
	}, `"jobs"`, &activated)
	if err != nil {
		return err
	}
	now := time.Now()
	jobs := make([]job.Job, len(activated.Jobs))
	for i, a := range activated.Jobs {
		jobs[i] = a.Job
		jobs[i].Headers, jobs[i].Variables, jobs[i].Received = string(a.Headers), string(a.Variables), now
	}
	received(jobs)
	return nil
}

func (c *client) Answer(ctx context.Context, j job.Job, a job.Answer) error {
	command := "failure"
	body := answer{Code: a.Code, Message: a.Message, Variables: json.RawMessage(a.Variables)}
	switch a.Kind {
	case job.KindComplete:
		command = "completion"
	case job.KindThrowError:
		command = "error"
	case job.KindFail, job.KindRelease:
		body.Retries = &a.Retries
	default:
		return status.Error(codes.InvalidArgument, "an answer of no kind")
	}
	return c.call(ctx, fmt.Sprintf("POST /jobs/%d/%s", j.Key, command), body, "", nil)
}

func (c *client) ExtendLock(ctx context.Context, j job.Job, lock time.Duration) error {
	change := map[string]any{"changeset": map[string]int64{"timeout": lock.Milliseconds()}}
	return c.call(ctx, fmt.Sprintf("PATCH /jobs/%d", j.Key), change, "", nil)
}

func (c *client) Topology(ctx context.Context) (transport.Topology, error) {
	var t topology
	err := c.call(ctx, "GET /topology", nil, `"partitionsCount"`, &t)
	return t.fromWire(), err
}

func (c *client) Deploy(
	ctx context.Context, tenant string, models []bpmn.Model,
) (deployed []transport.Deployed, err error) {
	var body bytes.Buffer // whose writers do not fail
	files := multipart.NewWriter(&body)
	for _, r := range models {
		part, _ := files.CreateFormFile("resources", r.Name)
		_, _ = part.Write(r.Content)
	}
	_ = files.WriteField("tenantId", tenant)
	_ = files.Close()
	var d deployment
	sent := form{files.FormDataContentType(), body.Bytes()}
	if err = c.call(ctx, "POST /deployments", sent, `"deployments"`, &d); err != nil {
		return nil, err
	}
	return d.fromWire(), nil
}

func (c *client) PublishMessage(ctx context.Context, m transport.Message) error {
	return c.call(ctx, "POST /messages/publication", m, `"messageKey"`, &struct{}{})
}
