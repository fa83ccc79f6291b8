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

	"hospital.example/analyze-retry/internal/broker/transport"
)

// form is a body by its media type; other values are sent as JSON.
type form struct {
	kind    string
	content []byte
}

// errBroken does not say where: the text may repeat what the answer holds.
var errBroken = fmt.Errorf("%w: %w", transport.ErrLost, status.Error(codes.Internal, "broken JSON"))

// maxRefusal is how many bytes are read of an answer that is not the call's result.
const maxRefusal = 64 << 10

// call makes a call, such as GET /topology, and reads its answer, JSON that holds this text; with an empty
// one it is to be nothing.
func (c *client) call(ctx context.Context, resource string, body any, holds string, answer any) error {
	method, path, _ := strings.Cut(resource, " ")
	sent, ready := body.(form)
	if !ready && body != nil {
		text, err := json.Marshal(body)
		if err != nil { // which may repeat the variables
			return status.Error(codes.InvalidArgument, "the variables are not JSON, or nested too deep")
		}
		sent = form{"application/json", text}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(sent.content))
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json, application/problem+json")
	if sent.kind != "" {
		request.Header.Set("Content-Type", sent.kind)
	}
	headers, err := c.authorizer.GetRequestMetadata(ctx)
	if err != nil {
		return err
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := c.http.RoundTrip(request) // follows no redirect, which would carry credentials elsewhere
	if err != nil {
		return c.broken(ctx, err)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusOK && holds != "":
		return c.result(ctx, response, holds, answer)
	case response.StatusCode == http.StatusNoContent && holds == "":
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	if err != nil {
		return c.broken(ctx, err)
	}
	return c.refusal(response, text)
}

// result reads the answer of a call that succeeded.
func (c *client) result(ctx context.Context, response *http.Response, holds string, answer any) error {
	text, err := io.ReadAll(http.MaxBytesReader(nil, response.Body, transport.MaxAnswer))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return status.Errorf(codes.ResourceExhausted,
			"the answer is larger than %d bytes", transport.MaxAnswer)
	case err != nil:
		return c.broken(ctx, err)
	case !bytes.Contains(text, []byte(holds)):
		return c.refusal(response, text)
	case json.Unmarshal(text, answer) != nil:
		return errBroken
	}
	return nil
}

// broken returns the error of a call that a connection did not carry, or not to its end.
func (c *client) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	return c.authorizer.Fail(codes.Unavailable, err.Error())
}

// codeOf returns the status code by the HTTP status and the title of an answer that is not the call's result;
// false where it is none of the API's. Titles of Camunda's own errors are names; Spring's, for example that
// of a path that is not there, are words ("Not Found"); a page of a proxy has none.
func codeOf(answered int, title string) (code codes.Code, known bool) {
	switch {
	case answered == 400 && title != "", answered == 413: // by a proxy too: it will not pass again
		return codes.InvalidArgument, true
	case answered == 401 && title != "UNAUTHORIZED":
		return codes.Unauthenticated, true
	case answered == 401, answered == 403: // of a tenant
		return codes.PermissionDenied, true
	case answered == 404 && title == "NOT_FOUND":
		return codes.NotFound, true
	case answered == 409 && title != "":
		return codes.FailedPrecondition, true
	case answered == 429, answered == 503 && title == "RESOURCE_EXHAUSTED":
		return codes.ResourceExhausted, true
	case answered == 500:
		return codes.Internal, true
	case answered == 504:
		return codes.DeadlineExceeded, true
	}
	return codes.Unavailable, answered == 502 || answered == 503
}

// refusal returns the error of a call that was not answered with its result. What is none of the API's
// answers, but one of a proxy, a firewall or another program, must not be taken for the cluster's word on a
// job.
func (c *client) refusal(response *http.Response, text []byte) error {
	var problem struct{ Title, Detail string } // RFC 9457
	_ = json.Unmarshal(text, &problem)         // what is none has no title, nor has one that is cut
	answer := fmt.Sprintf("HTTP status %d", response.StatusCode)
	if problem.Title != "" {
		answer += ", " + problem.Title + ": " + problem.Detail
	}
	code, known := codeOf(response.StatusCode, problem.Title)
	if !known {
		answer = fmt.Sprintf("what answers at %s is not Camunda's REST API: %s with content of type %q",
			c.base, answer, response.Header.Get("Content-Type"))
	}
	err := c.authorizer.Fail(code, answer)
	if known && problem.Title == "Internal Server Error" { // Spring's: it could not write the jobs
		err = fmt.Errorf("%w: %w", transport.ErrLost, err)
	}
	return err
}
