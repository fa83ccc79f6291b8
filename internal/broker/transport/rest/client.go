package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
)

// Client implements [transport.Client].
type Client struct {
	base       string // of the URLs
	authorizer *transport.Authorizer
	http       *http.Transport
}

var _ transport.Client = (*Client)(nil)

// Close implements [transport.Client].
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Activate implements [transport.Client]. The answer to a poll is one message, of which all or nothing can be
// read.
func (c *Client) Activate(ctx context.Context, p transport.Poll, received func([]job.Job)) error {
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

// Answer implements [transport.Client].
func (c *Client) Answer(ctx context.Context, j job.Job, a job.Answer) error {
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

// ExtendLock implements [transport.Client].
func (c *Client) ExtendLock(ctx context.Context, j job.Job, lock time.Duration) error {
	change := map[string]any{"changeset": map[string]int64{"timeout": lock.Milliseconds()}}
	return c.call(ctx, fmt.Sprintf("PATCH /jobs/%d", j.Key), change, "", nil)
}

// Topology implements [transport.Client].
func (c *Client) Topology(ctx context.Context) (transport.Topology, error) {
	var t topology
	err := c.call(ctx, "GET /topology", nil, `"partitionsCount"`, &t)
	return t.fromWire(), err
}

// Deploy implements [transport.Client].
func (c *Client) Deploy(
	ctx context.Context, tenant string, resources []transport.Resource,
) (deployed []transport.Deployed, err error) {
	var body bytes.Buffer // whose writers do not fail
	files := multipart.NewWriter(&body)
	for _, r := range resources {
		part, _ := files.CreateFormFile("resources", r.Name)
		_, _ = part.Write(r.Content)
	}
	_ = files.WriteField("tenantId", tenant)
	_ = files.Close()
	var d deployment
	sent := form{files.FormDataContentType(), body.Bytes()}
	if err = c.call(ctx, "POST /deployments", sent, `"deployments"`, &d); err != nil {
		return nil, fmt.Errorf("deploy %d resources: %w", len(resources), err)
	}
	return d.fromWire(), nil
}

// PublishMessage implements [transport.Client].
func (c *Client) PublishMessage(ctx context.Context, m transport.Message) error {
	return c.call(ctx, "POST /messages/publication", m, `"messageKey"`, &struct{}{})
}
