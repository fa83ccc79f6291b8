package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/transport"
)

// Client implements [transport.Client].
type Client struct {
	base, host string // of the URLs, and to send
	plaintext  bool
	large      *semaphore.Weighted   // the turn of the one large answer that is read
	authorizer *transport.Authorizer // nil where no call is authorized
	http       *http.Transport
}

var _ transport.Client = (*Client)(nil)

// Close implements [transport.Client].
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Activate implements [transport.Client]. The answer to a poll is one message; of one that breaks off it passes on the jobs
// that have arrived.
func (c *Client) Activate(ctx context.Context, p transport.Poll, received func([]job.Job)) error {
	body := activation{
		Type:           p.JobType,
		Worker:         p.Worker,
		Timeout:        p.Lock.Milliseconds(),
		Max:            p.Max,
		FetchVariable:  p.Fetch,
		RequestTimeout: p.Wait.Milliseconds(),
		TenantIDs:      []string{p.Tenant},
	}
	var jobs []job.Job
	err := c.send(ctx, http.MethodPost, "/jobs/activation", body, func(r io.Reader) (err error) {
		jobs, err = readJobs(r, p.Max)
		return err
	})
	if len(jobs) > 0 {
		received(jobs)
	}
	return err
}

// Answer implements [transport.Client].
func (c *Client) Answer(ctx context.Context, j job.Job, a job.Answer) error {
	path, body := jobPath(j), answer{Code: a.Code, Message: a.Message, Variables: json.RawMessage(a.Variables)}
	switch a.Kind {
	case job.KindComplete:
		path += "/completion"
	case job.KindThrowError:
		path += "/error"
	case job.KindFail, job.KindRelease:
		retries := a.Retries
		if a.Kind == job.KindRelease {
			retries = j.Retries
		}
		path, body.Retries = path+"/failure", &retries
	}
	return c.send(ctx, http.MethodPost, path, body, nil)
}

func jobPath(j job.Job) string { return "/jobs/" + strconv.FormatInt(j.Key, 10) }

// ExtendLock implements [transport.Client].
func (c *Client) ExtendLock(ctx context.Context, j job.Job, lock time.Duration) error {
	change := map[string]any{"changeset": map[string]int64{"timeout": lock.Milliseconds()}}
	return c.send(ctx, http.MethodPatch, jobPath(j), change, nil)
}

// Topology implements [transport.Client].
func (c *Client) Topology(ctx context.Context) (transport.Topology, error) {
	var t topology
	read := decode(&t, func() bool { return t.Partitions != nil })
	if err := c.do(ctx, http.MethodGet, "/topology", content{}, read); err != nil {
		return transport.Topology{}, fmt.Errorf("ask the gateway for its topology: %w", err)
	}
	return t.fromWire(), nil
}

// Deploy implements [transport.Client].
func (c *Client) Deploy(ctx context.Context, tenant string, resources []transport.Resource) ([]transport.Deployed, error) {
	var body bytes.Buffer // whose writers do not fail
	form := multipart.NewWriter(&body)
	for _, r := range resources {
		part, _ := form.CreateFormFile("resources", r.Name)
		_, _ = part.Write(r.Content)
	}
	if tenant != "" {
		_ = form.WriteField("tenantId", tenant)
	}
	_ = form.Close()
	var d deployment
	sent := content{kind: form.FormDataContentType(), body: body.Bytes()}
	read := decode(&d, func() bool { return d.Deployments != nil })
	if err := c.do(ctx, http.MethodPost, "/deployments", sent, read); err != nil {
		return nil, fmt.Errorf("deploy %d resources: %w", len(resources), err)
	}
	return d.fromWire(), nil
}

// PublishMessage implements [transport.Client].
func (c *Client) PublishMessage(ctx context.Context, m transport.Message) error {
	var published struct {
		Key json.RawMessage `json:"messageKey"`
	}
	read := decode(&published, func() bool { return published.Key != nil })
	return c.send(ctx, http.MethodPost, "/messages/publication", m, read)
}

// send makes a call with a body of JSON.
func (c *Client) send(ctx context.Context, method, path string, body any, read func(io.Reader) error) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(body) != nil { // its text may repeat the variables
		return status.Error(codes.InvalidArgument, "the variables are not JSON, or nested too deep")
	}
	return c.do(ctx, method, path, content{kind: "application/json", body: b.Bytes()}, read)
}

// content is the body of a request, and the media type of its answer.
type content struct {
	kind   string // empty where there is no body
	body   []byte
	accept string // empty for JSON
}

// do makes a call. Its answer is read by read, or must be empty if that is nil.
func (c *Client) do(ctx context.Context, method, path string, sent content, read func(io.Reader) error) error {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(sent.body))
	if err != nil {
		return c.authorizer.Fail(codes.Internal, err.Error())
	}
	request.Host = c.host
	request.Header.Set("User-Agent", "analyze-retry")
	sent.accept = cmp.Or(sent.accept, "application/json")
	request.Header.Set("Accept", sent.accept+", application/problem+json")
	if sent.kind != "" {
		request.Header.Set("Content-Type", sent.kind)
	}
	if c.authorizer != nil {
		authorization, err := c.authorizer.Header(ctx)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", authorization)
	}
	response, err := c.http.RoundTrip(request) // follows no redirect, which would carry the credentials elsewhere
	if err != nil {
		return c.broken(ctx, err)
	}
	defer response.Body.Close()
	return c.result(ctx, response, sent.accept, read)
}
