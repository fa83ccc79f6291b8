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

func TestEndlessAnswerCostsLittle(t *testing.T) {
	const most = 8 * transport.MaxAnswer // in all, not at a time
	for name, test := range map[string]struct{ begin, again string }{
		"blanks":     {`{"jobs":[`, " "},
		"jobs":       {`{"jobs":[`, wire(`"1"`, `{}`) + ","},
		"a variable": {`{"jobs":[{"variables":{"a":"`, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			c := endless(t, test.begin, test.again)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := activate(t, c, poll)
			runtime.ReadMemStats(&after)
			check.Same(t, codes.ResourceExhausted, transport.Code(err), "code of %v", err)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > most {
				t.Errorf("%d MiB, want %d MiB at most", taken>>20, most>>20)
			}
		})
	}
}

// Of refusals 32 are read at a time, in a pod of 128 MiB. The answer may have been passed on all the same.
func TestEndlessRefusalCostsLittle(t *testing.T) {
	c := served(t, func(w http.ResponseWriter, _ *http.Request) {
		var err error
		for piece := bytes.Repeat([]byte(" "), 4096); err == nil; {
			_, err = w.Write(piece)
		}
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := c.Answer(t.Context(), job.Job{Key: 1}, job.Complete("{}"))
	runtime.ReadMemStats(&after)
	check.Same(t, codes.Unavailable, transport.Code(err), "code of %v", err)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
		t.Errorf("%d KiB for one", taken>>10)
	}
}
