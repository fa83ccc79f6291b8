package chaos

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/events"
)

// Row 20. The guard is that a first answer which finds no job is looked after: unless another worker has answered, that
// is recorded and published. Seen to fail without: where such an answer is forgotten, nothing says that it was not delivered.
func TestDecisionOfACancelledInstanceIsRecordedAsUndelivered(t *testing.T) {
	r := newRig(t, setup{row: 20, busy: true, what: "instance cancelled while its job is active", store: inSQLite})
	// Time enough between storing and answering to cancel what is active: at most 20 times 100 ms.
	w := r.start("ANALYZE_RETRY_FAILPOINTS=stored=100ms", "RETRY_MAX_JOBS_ACTIVE=20")
	want := either(50, 500)
	for round := 0; int(w.metric("retry_job_answers_total", `result="not_found"`)) < want; round++ {
		inHand := map[string]int64{}
		for i := range 20 {
			id := fmt.Sprintf("CLM-%s-%d-%d", r.name, round, i)
			inHand[id] = r.submitOne(claim{ID: id, Error: passing[i], kind: audit.KindRetry}, nil)
		}
		r.until("all of them are stored", func() bool {
			for _, record := range r.records() {
				if key, is := inHand[record.ClaimID]; is {
					r.cancels(key)
					delete(inHand, record.ClaimID)
				}
			}
			return len(inHand) == 0
		})
	}
	gone := 0
	r.until("what was not delivered is recorded", func() bool {
		recorded := 0
		for _, record := range r.records() {
			if record.Kind == audit.KindUndelivered {
				recorded++
			}
		}
		gone = int(w.metric("retry_job_answers_total", `result="not_found"`))
		return recorded == gone
	})
	for key, records := range invariants(r) {
		r.toldAsNotDelivered(key, records)
	}
	r.happened(gone, "answers gone")
}

// toldAsNotDelivered holds that the record of an answer that did not arrive follows the decision, and has its event.
func (r *rig) toldAsNotDelivered(key int64, records []audit.Record) {
	r.Helper()
	cancelled := r.ledger.jobs[key].fate == "CANCELED"
	if len(records) == 1 && !cancelled {
		return
	}
	if len(records) != 2 || !cancelled || !records[0].Kind.IsDecision() || records[1].Kind != audit.KindUndelivered {
		r.Errorf("job %d is %s and has %d records", key, r.ledger.jobs[key].fate, len(records))
		return
	}
	e, err := events.FromRecord(&records[1])
	if err != nil || e.Type != events.TypeAnswerNotDelivered || e.Key != records[0].ClaimID {
		r.Errorf("the event is %s of %s: %v", e.Type, e.Key, err)
	}
}

// cancels cancels a process instance, if it is still there.
func (r *rig) cancels(key int64) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
	defer cancel()
	if _, err := r.broker.CancelProcessInstance(ctx, &pb.CancelProcessInstanceRequest{ProcessInstanceKey: key}); err == nil {
		r.cancelled[key] = true
	}
}
