package rest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/transport"
)

// FuzzAnswers answers every call with bytes at the wire. No call panics or hangs, an answer to a job is accepted only by the
// status 204, and what comes of a poll is whole UTF-8.
func FuzzAnswers(f *testing.F) {
	for _, answer := range []string{
		"", "\x00\x00\x06\x04\x00", "\x15\x03\x03\x00\x02\x02\x46", "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"jobs\":[" + wire(`"1"`, `{"a":1}`) + "]}",
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"jobs\":[",
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n{\"jobs\":[]}\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"partitionsCount\":1,\"brokers\":[{}],\"jobs\":null,\"deployments\":[{\"processDefinition\":null}]}",
		"HTTP/1.1 404 Not Found\r\nContent-Type: application/problem+json\r\n\r\n{\"title\":\"NOT_FOUND\",\"detail\":\"\xff\"}",
		"HTTP/1.1 302 Found\r\nLocation: http://\x7f/\r\n\r\n", "HTTP/1.1 999 \r\nGrpc-Status: 12\r\n\r\n",
	} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		c, err := Dial(transport.Config{Scheme: transport.HTTP, Address: "gateway", Dial: func(context.Context, string) (net.Conn, error) {
			client, server := net.Pipe()
			go func() {
				defer server.Close()
				if r, err := http.ReadRequest(bufio.NewReader(server)); err == nil {
					_, _ = io.Copy(io.Discard, r.Body)
					_, _ = server.Write(answer)
				}
			}()
			return client, nil
		}})
		check.Must(t, err)
		defer func() { _ = c.Close() }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = c.Activate(ctx, poll, func(jobs []job.Job) {
			for _, j := range jobs {
				if !utf8.ValidString(j.Variables + j.Headers + j.Type + j.Tenant) {
					t.Errorf("%+v is not UTF-8", j)
				}
			}
		})
		_, topology := c.Topology(ctx)
		_, deployment := c.Deploy(ctx, "", nil)
		completion := c.Answer(ctx, job.Job{Key: 1}, job.Complete("{}"))
		for _, err := range []error{err, topology, deployment, completion, c.ExtendLock(ctx, job.Job{}, 1), c.PublishMessage(ctx, transport.Message{})} {
			if code := transport.Code(err); code == codes.DeadlineExceeded && !bytes.Contains(answer, []byte(" 504 ")) || code == codes.Canceled {
				t.Errorf("a call hangs: %v", err)
			}
			if err != nil && !utf8.ValidString(err.Error()) {
				t.Errorf("%q is not UTF-8", err)
			}
		}
		if completion == nil && !bytes.Contains(answer, []byte(" 204")) {
			t.Error("the answer to a job is accepted")
		}
	})
}
