package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/contract"
)

func TestUndeliveredRecordBelongsToTheTraceOfItsDecision(t *testing.T) {
	t.Parallel()
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, detail := range []string{`{"processId":"SUB_06"}`, contract.WithTraceparent(`{"processId":"SUB_06"}`, trace)} {
		decision := Record{Kind: KindRetry, Hash: Hash{1}, Detail: detail}
		of, err := decision.Facts()
		if err != nil || of.ProcessID != "SUB_06" {
			t.Fatalf("%s is read as %+v, %v", detail, of.Detail, err)
		}
		record := undelivered(&decision)
		facts, err := record.Facts()
		if diff := cmp.Diff(contract.Detail{Undelivered: decision.Hash.String(), Traceparent: of.Traceparent}, facts.Detail); diff != "" || err != nil {
			t.Errorf("after %s (-want +got), %v:\n%s", detail, err, diff)
		}
	}
}
