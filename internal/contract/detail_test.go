package contract

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestADetailIsReadBackAsItWasWritten(t *testing.T) {
	at := time.Date(2026, 11, 21, 3, 4, 5, 123456000, time.UTC)
	for _, want := range []Detail{
		{},
		{ProcessID: "SUB_06", ElementID: `odd "\` + "\n\x01é💥" + `"`, SubmissionError: "TIMEOUT <b> & \u2028 [CPF]"},
		{ProcessID: "p", Steps: &Steps{ErrorReceived: at, AfterMicros: [6]int64{0, 1, 2, 3, 4, 1e15}}, ExecutionTimeMs: 0.017},
		{ProcessID: "p", Attempts: 6, FirstFailureTime: &at, ExecutionTimeMs: 123456.789},
		{Justification: `o "convênio" voltou` + "\n", Operator: "maria", RedriveID: "5f0c1c7e-9d0a-4f5e-8a51-0b6a3f1f8f10"},
		{Steps: &Steps{ErrorReceived: at.Truncate(time.Second)}},
	} {
		text := want.Encode()
		var got Detail
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
