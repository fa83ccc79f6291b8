package rest

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"testing"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/testing/check"
)

// endless makes a client of a server that answers so, and never ends.
func endless(t *testing.T, begin, again string) *Client {
	t.Helper()
	return served(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", plainJSON)
		_, err := io.WriteString(w, begin)
		for piece := bytes.Repeat([]byte(again), 4096); err == nil; {
			_, err = w.Write(piece)
		}
	})
}

// Of refusals 32 are read at a time, in a pod of 128 MiB. The answer may have been passed on all the same.
func TestWhatNeverEndsCostsLittle(t *testing.T) {
	polled := func(c *Client) error { _, err := activate(t, c, poll); return err }
	answered := func(c *Client) error { return c.Answer(t.Context(), job.Job{Key: 1}, job.Complete("{}")) }
	const ofPoll, ofRefusal = 8 * transport.MaxAnswer, 1 << 20 // in all, not at a time
	for name, test := range map[string]struct {
		begin, again string
		call         func(*Client) error
		most         uint64
		want         codes.Code
	}{
		"blanks":     {`{"jobs":[`, " ", polled, ofPoll, codes.ResourceExhausted},
		"jobs":       {`{"jobs":[`, wire(`"1"`, `{}`) + ",", polled, ofPoll, codes.ResourceExhausted},
		"a variable": {`{"jobs":[{"variables":{"a":"`, "x", polled, ofPoll, codes.ResourceExhausted},
		"a refusal":  {"", " ", answered, ofRefusal, codes.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			c := endless(t, test.begin, test.again)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := test.call(c)
			runtime.ReadMemStats(&after)
			check.Same(t, test.want, transport.Code(err), "code of %v", err)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > test.most {
				t.Errorf("%d KiB, want %d KiB at most", taken>>10, test.most>>10)
			}
		})
	}
}
