package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/transport"
)

const (
	plainJSON   = "application/json"
	problemJSON = "application/problem+json"
)

// form is a body by its media type; other values are sent as JSON.
type form struct {
	kind    string
	content []byte
}

// tell makes a call that is answered by nothing.
func (c *Client) tell(ctx context.Context, method, path string, body any) error {
	_, err := c.call(ctx, method, path, body, "", "")
	return err
}

// ask makes a call and reads its answer, JSON that holds this text.
func (c *Client) ask(ctx context.Context, method, path string, body any, holds string, answer any) error {
	text, err := c.call(ctx, method, path, body, plainJSON, holds)
	if err == nil && json.Unmarshal(text, answer) != nil {
		return errBroken
	}
	return err
}

// errBroken does not say where: the text may repeat what the answer holds.
var errBroken = fmt.Errorf("%w: %w", transport.ErrLost, status.Error(codes.Internal, "the answer is broken JSON"))

// call makes a call and returns its answer, which is of this media type and holds this text, or is nothing if kind is empty.
// Of an answer that breaks off it returns what has come.
func (c *Client) call(ctx context.Context, method, path string, body any, kind, holds string) (text []byte, err error) {
	sent, ready := body.(form)
	if !ready && body != nil {
		sent.kind = plainJSON
		if sent.content, err = json.Marshal(body); err != nil { // which may repeat the variables
			return nil, status.Error(codes.InvalidArgument, "the variables are not JSON, or nested too deep")
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(sent.content))
	if err != nil {
		return nil, err
	}
	request.Host = c.host
	request.Header.Set("Accept", cmp.Or(kind, plainJSON)+", "+problemJSON)
	if sent.kind != "" {
		request.Header.Set("Content-Type", sent.kind)
	}
	if c.authorizer != nil {
		authorization, err := c.authorizer.Header(ctx)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", authorization)
	}
	response, err := c.http.RoundTrip(request) // follows no redirect, which would carry the credentials elsewhere
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	defer response.Body.Close()
	text, err = io.ReadAll(http.MaxBytesReader(nil, response.Body, transport.MaxAnswer))
	if large, is := errors.AsType[*http.MaxBytesError](err); is {
		return nil, status.Errorf(codes.ResourceExhausted, "the answer is larger than %d bytes", large.Limit)
	}
	if err != nil {
		return text, c.broken(ctx, err)
	}
	found, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode == http.StatusNoContent && kind == "" ||
		response.StatusCode == http.StatusOK && kind != "" && found == kind && bytes.Contains(text, []byte(holds)) {
		return text, nil
	}
	return nil, c.refusal(response, text)
}

// broken returns the error of a call that a connection did not carry, or not to its end.
func (c *Client) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	return c.authorizer.Fail(codes.Unavailable, err.Error())
}

// What a row of answerCodes asks of an answer's title. Those of Camunda's own errors are names; Spring's, for example that of
// a path that is not there, are words ("Not Found").
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
	{401, "UNAUTHORIZED", codes.PermissionDenied}, // of a tenant; credentials that are refused are "Unauthorized"
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

// refusal returns the error of a call that was not answered with its result. What is none of the API's answers, but one of a
// proxy, a firewall or another program, must not be taken for the cluster's word on a job.
func (c *Client) refusal(response *http.Response, text []byte) error {
	var problem struct{ Title, Detail string } // RFC 9457
	_ = json.Unmarshal(text, &problem)         // what is none has no title
	answer := fmt.Sprintf("HTTP status %d", response.StatusCode)
	if problem.Title != "" {
		answer += ", " + problem.Title + ": " + problem.Detail
	}
	for _, row := range answerCodes {
		fits := row.title == problem.Title || row.title == whatever || row.title == aProblem && problem.Title != ""
		if row.status != response.StatusCode || !fits {
			continue
		}
		err := c.authorizer.Fail(row.code, answer)
		if problem.Title == "Internal Server Error" { // Spring's, which could not write the jobs; Camunda's is INTERNAL
			err = fmt.Errorf("%w: %w", transport.ErrLost, err)
		}
		return err
	}
	return c.authorizer.Fail(codes.Unavailable, fmt.Sprintf("what answers at %s is not Camunda's REST API: %s with content of type %q",
		c.base, answer, response.Header.Get("Content-Type")))
}
