package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/transport"
)

var errClosed = status.Error(codes.Canceled, "the connection to the gateway is closed")

// What a port speaks instead.
var (
	errGRPC  = errors.New("this is a gRPC port: use grpc:// or grpcs://, or the port of the REST API")
	errTLS   = errors.New("this port speaks TLS: use https://")
	errPlain = errors.New("this port speaks no TLS: use http://")
)

// broken returns the error of a call that a connection did not carry, or not to its end.
func (c *Client) broken(ctx context.Context, err error) error {
	deadline, limited := ctx.Deadline()
	switch text := err.Error(); {
	case ctx.Err() != nil:
		return status.FromContextError(ctx.Err()).Err()
	case limited && !time.Now().Before(deadline): // a connection may notice it first
		return status.FromContextError(context.DeadlineExceeded).Err()
	case c.closing.Err() != nil:
		return errClosed
	case errors.Is(err, errGRPC):
		return status.Error(codes.Unavailable, errGRPC.Error())
	case errors.Is(err, errTLS):
		return status.Error(codes.Unavailable, errTLS.Error())
	case strings.Contains(text, "server gave HTTP response to HTTPS client"), strings.Contains(text, "first record does not look like a TLS handshake"):
		return status.Errorf(codes.Unavailable, "%v (%s)", errPlain, text)
	default:
		return status.Error(codes.Unavailable, transport.Text(text))
	}
}

// result reads the answer to a call, which is to be of a media type.
func (c *Client) result(ctx context.Context, response *http.Response, accept string, read func(io.Reader) error) error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case read == nil && response.StatusCode == http.StatusNoContent:
		return nil
	case read == nil || response.StatusCode != http.StatusOK || kind != accept:
		return c.refusal(ctx, response, kind)
	}
	body := &body{from: response.Body, left: c.limit}
	err := read(body)
	switch {
	case err == nil:
		// The connection can be used again when the answer is read to its end.
		_, _ = io.Copy(io.Discard, io.LimitReader(body, maxProblem))
		return nil
	case body.left == 0:
		return status.Errorf(codes.ResourceExhausted, "the answer is larger than %d bytes", c.limit)
	case body.err != nil:
		return c.broken(ctx, body.err)
	case errors.Is(err, errForm):
		return status.Error(codes.Unavailable, c.another(err.Error()))
	default:
		return errBroken
	}
}

// errBroken is an answer that is no whole JSON. The error of reading it may repeat what it holds.
var errBroken = status.Error(codes.Internal, "the answer is broken JSON")

// errUnwritten is the error of a call that the gateway has made, and whose result it then failed to write: a job has a variable
// that is nested too deep. A gateway may also have begun to write.
var errUnwritten = errors.New("the gateway failed to write its answer")

// body is an answer's, up to a limit. It keeps the error that ended it early, to tell it from one in what was read.
type body struct {
	from io.Reader
	left int
	err  error
}

func (b *body) Read(p []byte) (n int, err error) {
	if b.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err = b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// problem is what the API answers instead of a result (RFC 9457).
type problem struct {
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

// refusal returns the error of a call that was not answered with its result.
func (c *Client) refusal(ctx context.Context, response *http.Response, kind string) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, maxProblem))
	if err != nil {
		return c.broken(ctx, err)
	}
	var p problem
	if kind == "application/problem+json" || kind == "application/json" {
		_ = json.Unmarshal(text, &p) // one without a readable title counts by its status
	}
	code := codeOf(response.StatusCode, p.Title, kind == "application/problem+json")
	if code == codes.Unauthenticated && c.authorizer != nil {
		c.authorizer.Refused()
	}
	message := fmt.Sprintf("HTTP status %d", response.StatusCode)
	switch {
	case code == codes.Internal && kind == "application/problem+json" && p.Title != titleInternal: // by Spring, not by Camunda
		return fmt.Errorf("%w: %w", errUnwritten, status.Error(code, c.text(message, p)))
	case p.Title != "" && code != codes.OK:
		return status.Error(code, c.text(message, p))
	case code != codes.OK:
		return status.Error(code, message)
	case response.Header.Get("Grpc-Status") != "" || strings.HasPrefix(kind, "application/grpc"),
		response.StatusCode == http.StatusUnsupportedMediaType && p.Title == "":
		return status.Errorf(codes.Unavailable, "%v (%s)", errGRPC, message)
	case c.plaintext && response.StatusCode == http.StatusBadRequest && (strings.Contains(string(text), "HTTPS") || strings.Contains(string(text), "TLS")):
		return status.Errorf(codes.Unavailable, "%v (%s)", errTLS, message)
	case response.StatusCode/100 == 3:
		return status.Error(codes.Unavailable, c.another(message+", a redirect"+to(response)+", which is not followed"))
	default:
		return status.Error(codes.Unavailable, c.another(fmt.Sprintf("%s with content of type %q", message, kind)))
	}
}

// text is that of an error.
func (c *Client) text(message string, p problem) string {
	return transport.Text(c.authorizer.Mask(fmt.Sprintf("%s, %s: %s", message, p.Title, p.Detail)))
}

// another words that an answer is not one of the API.
func (c *Client) another(found string) string {
	return fmt.Sprintf("what answers at %s is not Camunda's REST API (%s); is the address right?", c.base, transport.Text(found))
}

// to names the host of a redirect; the rest of its URL may hold a secret.
func to(response *http.Response) string {
	if u, err := url.Parse(response.Header.Get("Location")); err == nil && u.Host != "" {
		return " to " + u.Host
	}
	return ""
}

// The titles of problems that change what the status alone says. They are the names of Camunda's own errors; Spring's, for
// example that of a path that is not there, are words ("Not Found").
const (
	titleNotFound      = "NOT_FOUND"
	titleExhausted     = "RESOURCE_EXHAUSTED"
	titleAlreadyExists = "ALREADY_EXISTS"
	titleAborted       = "ABORTED"
	titleUnauthorized  = "UNAUTHORIZED" // of a tenant; credentials that are refused are "Unauthorized"
	titleInternal      = "INTERNAL"
	titleUnknown       = "UNKNOWN"
)

// codeOf returns the status code of an answer, OK if it is not one of the API: a proxy, a firewall or another program
// answers, or the path is wrong. It must not be taken for the cluster's word on a job.
func codeOf(httpStatus int, title string, isProblem bool) codes.Code {
	isProblem = isProblem || title != ""
	switch {
	case httpStatus == http.StatusBadRequest && isProblem:
		return codes.InvalidArgument
	case httpStatus == http.StatusRequestEntityTooLarge: // by a proxy too: it will not pass a second time
		return codes.InvalidArgument
	case httpStatus == http.StatusUnauthorized && title == titleUnauthorized:
		return codes.PermissionDenied
	case httpStatus == http.StatusUnauthorized:
		return codes.Unauthenticated
	case httpStatus == http.StatusForbidden:
		return codes.PermissionDenied
	case httpStatus == http.StatusNotFound && title == titleNotFound:
		return codes.NotFound
	case httpStatus == http.StatusConflict && title == titleAlreadyExists:
		return codes.AlreadyExists
	case httpStatus == http.StatusConflict && isProblem:
		return codes.FailedPrecondition
	case httpStatus == http.StatusTooManyRequests, httpStatus == http.StatusServiceUnavailable && title == titleExhausted:
		return codes.ResourceExhausted
	case httpStatus == http.StatusInternalServerError && title == titleUnknown:
		return codes.Unknown
	case httpStatus == http.StatusInternalServerError:
		return codes.Internal
	case httpStatus == http.StatusBadGateway && title == titleAborted:
		return codes.Aborted
	case httpStatus == http.StatusBadGateway, httpStatus == http.StatusServiceUnavailable:
		return codes.Unavailable
	case httpStatus == http.StatusGatewayTimeout:
		return codes.DeadlineExceeded
	default:
		return codes.OK
	}
}
