package rest

import (
	"bytes"
	"net/http"
	"runtime"
	"testing"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/testing/check"
)

// Of refusals 32 are read at a time, in a pod of 128 MiB. The answer may have been passed on all the same.
// transporttest shows the limit of an answer.
func TestARefusalThatNeverEndsCostsLittle(t *testing.T) {
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
		t.Errorf("%d KiB, want 1 MiB at most", taken>>10)
	}
}
