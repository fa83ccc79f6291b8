package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/transport"
)

// form is a body by its media type; other values are sent as JSON.
type form struct {
	kind    string
	content []byte
}

// ask makes a call and reads its answer, JSON that holds this text.
func (c *Client) ask(ctx context.Context, resource string, body any, holds string, answer any) error {
	text, err := c.call(ctx, resource, body, holds)
	if err == nil && json.Unmarshal(text, answer) != nil {
		return errBroken
	}
	return err
}

// errBroken does not say where: the text may repeat what the answer holds.
var errBroken = fmt.Errorf("%w: %w", transport.ErrLost, status.Error(codes.Internal, "broken JSON"))

// call makes a call, such as GET /topology, and returns its answer, which holds this text; with an empty one
// it is to be nothing. Of an answer that breaks off it returns what has come.
func (c *Client) call(ctx context.Context, resource string, body any, holds string) ([]byte, error) {
	method, path, _ := strings.Cut(resource, " ")
	sent, ready := body.(form)
	if !ready && body != nil {
		text, err := json.Marshal(body)
		if err != nil { // which may repeat the variables
			return nil, status.Error(codes.InvalidArgument, "the variables are not JSON, or nested too deep")
		}
		sent = form{"application/json", text}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(sent.content))
	if err != nil {
		return nil, err
	}
	request.Host = c.host
	request.Header.Set("Accept", "application/json, text/xml, application/problem+json")
	if sent.kind != "" {
		request.Header.Set("Content-Type", sent.kind)
	}
	headers, err := c.authorizer.GetRequestMetadata(ctx)
	if err != nil {
		return nil, err
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := c.http.RoundTrip(request) // follows no redirect, which would carry credentials elsewhere
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(http.MaxBytesReader(nil, response.Body, transport.MaxAnswer))
	if large, is := errors.AsType[*http.MaxBytesError](err); is {
		return nil, status.Errorf(codes.ResourceExhausted, "the answer is larger than %d bytes", large.Limit)
	}
	if err != nil {
		return text, c.broken(ctx, err)
	}
	want := http.StatusOK
	if holds == "" {
		want = http.StatusNoContent
	}
	if response.StatusCode != want || !bytes.Contains(text, []byte(holds)) {
		return nil, c.refusal(response, text)
	}
	return text, nil
}

// broken returns the error of a call that a connection did not carry, or not to its end.
func (c *Client) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	return c.authorizer.Fail(codes.Unavailable, err.Error())
}

// What a row of answerCodes asks of an answer's title. Those of Camunda's own errors are names; Spring's, for
// example that of a path that is not there, are words ("Not Found").
const (
	whatever = ""  // it may be a page of a proxy
	aProblem = "*" // it has one
)

// answerCodes are the status codes by the HTTP status and the title, the first that fits.
var answerCodes = []struct {
	status int
	title  string
	code   codes.Code
}{
	{400, aProblem, codes.InvalidArgument},
	{401, "UNAUTHORIZED", codes.PermissionDenied}, // of a tenant; of refused credentials it is "Unauthorized"
	{401, whatever, codes.Unauthenticated},
	{403, whatever, codes.PermissionDenied},
	{404, "NOT_FOUND", codes.NotFound},
	{409, "ALREADY_EXISTS", codes.AlreadyExists},
	{409, aProblem, codes.FailedPrecondition},
	{413, whatever, codes.InvalidArgument}, // by a proxy too: it will not pass a second time
	{429, whatever, codes.ResourceExhausted},
	{500, "UNKNOWN", codes.Unknown},
	{500, whatever, codes.Internal},
	{502, "ABORTED", codes.Aborted},
	{502, whatever, codes.Unavailable},
	{503, "RESOURCE_EXHAUSTED", codes.ResourceExhausted},
	{503, whatever, codes.Unavailable},
	{504, whatever, codes.DeadlineExceeded},
}

// refusal returns the error of a call that was not answered with its result. What is none of the API's
// answers, but one of a proxy, a firewall or another program, must not be taken for the cluster's word on a
// job.
func (c *Client) refusal(response *http.Response, text []byte) error {
	var problem struct{ Title, Detail string } // RFC 9457
	_ = json.Unmarshal(text, &problem)         // what is none has no title
	answer := fmt.Sprintf("HTTP status %d", response.StatusCode)
	if problem.Title != "" {
		answer += ", " + problem.Title + ": " + problem.Detail
	}
	for _, row := range answerCodes {
		fits := row.title == problem.Title || row.title == whatever ||
			row.title == aProblem && problem.Title != ""
		if row.status != response.StatusCode || !fits {
			continue
		}
		err := c.authorizer.Fail(row.code, answer)
		if problem.Title == "Internal Server Error" { // Spring's, not Camunda's: it could not write the jobs
			err = fmt.Errorf("%w: %w", transport.ErrLost, err)
		}
		return err
	}
	answer = fmt.Sprintf("what answers at %s is not Camunda's REST API: %s with content of type %q",
		c.base, answer, response.Header.Get("Content-Type"))
	return c.authorizer.Fail(codes.Unavailable, answer)
}
