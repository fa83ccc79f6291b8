package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/transport"
)

const problemJSON = "application/problem+json"

// namesTLS matches what servers with TLS answer in plaintext.
var namesTLS = regexp.MustCompile(`HTTPS|TLS`)

// broken returns the error of a call that a connection did not carry, or not to its end.
func (c *Client) broken(ctx context.Context, err error) error {
	deadline, limited := ctx.Deadline()
	switch {
	case ctx.Err() != nil:
		return status.FromContextError(ctx.Err()).Err()
	case limited && !time.Now().Before(deadline): // a connection may notice it first
		return status.FromContextError(context.DeadlineExceeded).Err()
	default:
		return c.authorizer.Fail(codes.Unavailable, err.Error())
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
	limited := http.MaxBytesReader(nil, response.Body, transport.MaxAnswer)
	body := &body{Reader: limited, ctx: ctx, turn: c.large}
	defer body.done()
	err := read(body)
	if err == nil {
		// The connection can be used again when the answer is read to its end.
		_, _ = io.Copy(io.Discard, io.LimitReader(limited, maxProblem))
		return nil
	}
	_, cut := io.Copy(io.Discard, limited) // why it ended, if not by itself: that comes again
	switch {
	case errors.As(cut, new(*http.MaxBytesError)):
		return c.authorizer.Fail(codes.ResourceExhausted, fmt.Sprintf("the answer is larger than %d bytes", transport.MaxAnswer))
	case cut != nil || ctx.Err() != nil:
		return c.broken(ctx, cut)
	case errors.Is(err, errForm):
		return c.another(err.Error())
	default: // its text may repeat what the answer holds
		return fmt.Errorf("%w: %w", transport.ErrLost, status.Error(codes.Internal, "the answer is broken JSON"))
	}
}

// large is the size in bytes from which on answers are read one at a time: each takes a multiple of it in memory.
const large = 1 << 20

// body is an answer's.
type body struct {
	io.Reader
	ctx  context.Context
	read int
	turn *semaphore.Weighted // of one
	mine bool                // this answer has the turn
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (n int, err error) {
	if !b.mine && b.read >= large {
		if err := b.turn.Acquire(b.ctx, 1); err != nil {
			return 0, err
		}
		b.mine = true
	}
	n, err = b.Reader.Read(p)
	b.read += n
	return n, err
}

// done gives the turn away.
func (b *body) done() {
	if b.mine {
		b.turn.Release(1)
	}
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
	if kind == problemJSON || kind == "application/json" {
		_ = json.Unmarshal(text, &p) // one without a readable title counts by its status
	}
	answer := fmt.Sprintf("HTTP status %d", response.StatusCode)
	if p.Title != "" {
		answer += ", " + p.Title + ": " + p.Detail
	}
	code := codeOf(response.StatusCode, p.Title, kind == problemJSON)
	switch {
	case code == codes.Internal && kind == problemJSON && p.Title != "INTERNAL": // by Spring, not by Camunda
		return fmt.Errorf("%w: %w", transport.ErrLost, c.authorizer.Fail(code, answer))
	case code != codes.OK:
		return c.authorizer.Fail(code, answer)
	case response.Header.Get("Grpc-Status") != "" || strings.HasPrefix(kind, "application/grpc"),
		response.StatusCode == http.StatusUnsupportedMediaType && p.Title == "":
		return c.authorizer.Fail(codes.Unavailable, transport.SpeaksGRPC)
	case c.plaintext && response.StatusCode == http.StatusBadRequest && namesTLS.Match(text):
		return c.authorizer.Fail(codes.Unavailable, transport.SpeaksTLS)
	case response.StatusCode/100 == 3:
		if to, err := response.Location(); err == nil {
			answer += ", a redirect to " + to.Host // the rest of the URL may hold a secret
		}
		return c.another(answer + ", which is not followed")
	default:
		return c.another(fmt.Sprintf("%s with content of type %q", answer, response.Header.Get("Content-Type")))
	}
}

// another returns the error of an answer that is not one of the API.
func (c *Client) another(found string) error {
	return c.authorizer.Fail(codes.Unavailable, "what answers at "+c.base+" is not Camunda's REST API; is the address right? It says: "+found)
}

// What codeOf asks of an answer's title. Those of Camunda's own errors are names; Spring's, for example that of a path that is
// not there, are words ("Not Found").
const (
	whatever = ""  // it may be a page of a proxy
	aProblem = "*" // it is any problem of the API
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

// codeOf returns the status code of an answer, OK if it is not one of the API: a proxy, a firewall or another program
// answers, or the path is wrong. It must not be taken for the cluster's word on a job.
func codeOf(httpStatus int, title string, isProblem bool) codes.Code {
	for _, row := range answerCodes {
		fits := row.title == title || row.title == whatever || row.title == aProblem && (isProblem || title != "")
		if row.status == httpStatus && fits {
			return row.code
		}
	}
	return codes.OK
}
