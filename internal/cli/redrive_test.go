package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims/redrive"
	"hospital.example/analyze-retry/internal/cli"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// hospital is a store with its worker, and a gateway behind which processes wait for the message of a re-drive.
type hospital struct {
	*archive
	gateway *enginetest.Gateway
	store   audit.Store

	mu sync.Mutex
	// waiting says what the process of a claim has recorded when the message comes; a claim that is not there waits for
	// nothing.
	waiting map[string]audit.Kind
}

// The claims of a hospital, by how they stand today.
const (
	due           = "CLM-R-001-1" // waits for its second retry
	late          = "CLM-R-002-2" // its retry was due an hour ago
	usedUp        = "CLM-R-003-3"
	hopeless      = "CLM-R-004-4" // a permanent error
	later         = "CLM-R-005-5" // waits for its fourth retry
	openIncident  = "CLM-R-006-6"
	acceptedNow   = "CLM-R-007-7"
	givenUp       = "CLM-R-008-8"
	resubmitted   = "CLM-R-009-9"
	redrivenNow   = "CLM-R-010-10"
	neverHeardOf  = "CLM-R-999-999"
	orderedReason = "a operadora confirmou que voltou"
)

func yesterday() []audit.Record {
	const transient, unknown = "TRANSIENT", "UNKNOWN"
	again := audit.KindRetry
	all := []audit.Record{
		decided{again, givenUp, "2026-01-11T08:00:00Z", "TIMEOUT", transient, "TIMEOUT", 0, 5, 6}.record(),
		ended{audit.KindAbandoned, givenUp, "2026-01-11T09:00:00Z", 1, 1, "2026-01-11T08:00:00Z"}.record(),
		decided{audit.KindExhausted, resubmitted, "2026-01-11T08:00:00Z", "504", transient, "504", 5, 0, 0}.record(),
		ended{audit.KindResubmitted, resubmitted, "2026-01-11T09:00:00Z", 6, 5, "2026-01-11T03:00:00Z"}.record(),
		advised(decided{audit.KindExhausted, usedUp, "2026-01-11T10:00:00Z", "504", transient, "504", 5, 0, 0}.record()),
		decided{audit.KindPermanent, hopeless, "2026-01-11T11:00:00Z", "DUPLICATE_CLAIM", "PERMANENT", "DUPLICATE_CLAIM", 0, 0, 0}.record(),
		decided{again, late, "2026-01-12T08:40:00Z", "erro 77", unknown, "", 2, 20, 20}.record(),
		decided{again, openIncident, "2026-01-12T08:00:00Z", "TIMEOUT", transient, "TIMEOUT", 0, 5, 6}.record(),
		rejected(openIncident, "2026-01-12T08:07:00Z"),
		decided{again, acceptedNow, "2026-01-12T09:00:00Z", "TIMEOUT", transient, "TIMEOUT", 0, 5, 6}.record(),
		ended{audit.KindSubmitted, acceptedNow, "2026-01-12T09:07:00Z", 2, 1, "2026-01-12T09:00:00Z"}.record(),
		decided{again, redrivenNow, "2026-01-12T09:30:00Z", "TIMEOUT", transient, "TIMEOUT", 3, 40, 40}.record(),
		ended{audit.KindRedriven, redrivenNow, "2026-01-12T09:59:00Z", 1, 1, "2026-01-12T09:30:00Z"}.record(),
		decided{again, later, "2026-01-12T09:40:00Z", "erro 78", unknown, "", 3, 40, 40}.record(),
		decided{again, due, "2026-01-12T09:55:00.5Z", "TIMEOUT", transient, "TIMEOUT", 1, 10, 12}.record(),
	}
	return keyed(all)
}

// advised adds to a decision that its claim may have arrived.
func advised(r audit.Record) audit.Record {
	r.Variables = strings.Replace(r.Variables, `"retriesLeft"`, `"advice":"CHECK_STATUS","retriesLeft"`, 1)
	return r
}

// openHospital opens the hospital. Every claim that is to be sent again by force or without waits for the message, these in a
// model that knows redriveWait.
func openHospital(t *testing.T, knowsWait ...string) *hospital {
	t.Helper()
	h := &hospital{archive: archived(t, yesterday()), waiting: map[string]audit.Kind{
		due: audit.KindRedriven, late: audit.KindRedriven, later: audit.KindRedriven,
		usedUp: audit.KindResubmitted, hopeless: audit.KindResubmitted,
	}}
	for _, claim := range knowsWait {
		h.waiting[claim] = audit.KindRedriven
	}
	h.store = h.open(t)
	t.Cleanup(func() {
		if err := h.store.Close(); err != nil {
			t.Error(err)
		}
	})
	h.gateway = enginetest.New(grpc.ChainUnaryInterceptor(h.correlate))
	t.Cleanup(h.gateway.Close)
	address, err := h.gateway.Listen()
	check.Must(t, err)
	h.settings = append(h.settings, "ZEEBE_ADDRESS="+address, "ZEEBE_INSECURE_CONNECTION=true")
	return h
}

// correlate does what a process does that waits for the message, and the worker behind it.
func (h *hospital) correlate(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	response, err := next(ctx, request)
	message, ok := request.(*pb.PublishMessageRequest)
	if !ok || err != nil {
		return response, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	kind, waits := h.waiting[message.CorrelationKey]
	delete(h.waiting, message.CorrelationKey)
	if !waits || message.Name != "redrive-claim" {
		return response, nil
	}
	var detail contract.Detail
	if err := json.Unmarshal([]byte(message.Variables), &detail); err != nil {
		return nil, err
	}
	detail.Attempts = 2
	record := audit.Record{
		Kind:       kind,
		At:         today.Add(time.Second),
		ClaimID:    message.CorrelationKey,
		RetryCount: 2,
		DecidedBy:  detail.DecidedBy,
		Variables:  "{}",
		Detail:     detailed(detail),
	}
	record.Cluster, record.JobKey = "zeebe", 2251799813700000+int64(len(h.waiting))
	_, err = h.store.Append(ctx, audittest.Entries(record))
	return response, err
}

// messages are those that have come to the gateway.
func (h *hospital) messages() (sent []*pb.PublishMessageRequest) {
	for _, call := range h.gateway.Calls(enginetest.PublishMessage) {
		sent = append(sent, call.Request.(*pb.PublishMessageRequest))
	}
	return sent
}

// ordered is the command line with a reason and an operator, unless the arguments say otherwise.
func ordered(args ...string) []string {
	return append([]string{"redrive", "--reason", orderedReason, "--operator", "maria"}, args...)
}

func TestOrderIsAMessageThatIsNotKept(t *testing.T) {
	h := openHospital(t)
	h.must(t, ordered("--claim", due)...)
	sent := h.messages()
	check.Same(t, 1, len(sent), "messages")
	check.Same(t, "redrive-claim "+due+" 0s", fmt.Sprintf("%s %s %ds", sent[0].Name, sent[0].CorrelationKey, sent[0].TimeToLive), "message")
	want := `{"redriveId":"` + sent[0].MessageId + `","justification":"` + orderedReason + `","decidedBy":"maria"}`
	check.Same(t, want, sent[0].Variables, "variables")
	h.prints(t, []string{"audit", "export", due}, sent[0].MessageId, orderedReason)
}

func TestRefusedClaimIsNotSent(t *testing.T) {
	h := openHospital(t)
	for _, test := range []struct {
		claim string
		code  int
		want  string
	}{
		{neverHeardOf, 3, "worker: job_not_found: claim " + neverHeardOf + ": no decision was asked for it"},
		{usedUp, 4, "worker: max_retries_exceeded: claim " + usedUp + ": its retries are over"},
		{hopeless, 5, "its error is permanent (rule permanent.DUPLICATE_CLAIM): wrong data fails again"},
		{openIncident, 5, "worker: invalid_retry_state: claim " + openIncident + ": its input was rejected at 2026-01-12T08:07:00Z: invalid input: retryCount is 2.5"},
		{acceptedNow, 5, "the insurer accepted it at 2026-01-12T09:07:00Z"},
		{givenUp, 5, "abandoned at 2026-01-11T09:00:00Z"},
		{resubmitted, 5, "it is on its way already: sent again at 2026-01-11T09:00:00Z"},
		{redrivenNow, 5, "it is on its way already: sent again at 2026-01-12T09:59:00Z"},
	} {
		h.fails(t, test.code, test.want, ordered("--claim", test.claim)...)
	}
	if sent := h.messages(); len(sent) != 0 {
		t.Errorf("sent %v", sent)
	}
}

func TestAWaitIsPartOfTheOrder(t *testing.T) {
	h := openHospital(t, usedUp)
	h.must(t, ordered("--claim", usedUp, "--force", "--checked", "--wait", "90s")...)
	check.Contains(t, h.messages()[0].Variables, `"redriveWait":"PT90S","retryCount":6}`)
}

func TestUnrecordedOrderIsUnconfirmed(t *testing.T) {
	h := openHospital(t)
	delete(h.waiting, due)
	defer func(was time.Duration) { *cli.RedriveTimeout = was }(*cli.RedriveTimeout)
	*cli.RedriveTimeout = 50 * time.Millisecond
	h.fails(t, 5, "worker: invalid_retry_state: claim "+due+": no record of the order came in time. No process waited for it", ordered("--claim", due)...)
	if n := len(h.messages()); n != 1 {
		t.Errorf("sent %d messages, want one: a second one could send the claim twice", n)
	}
}

// results runs the command with --json and returns what became of each claim.
func (h *hospital) results(t *testing.T, code int, args ...string) map[string]string {
	t.Helper()
	var answer struct {
		Claims []struct{ ClaimID, Result string }
	}
	h.decodes(t, code, &answer, append([]string{"redrive"}, args...)...)
	became := map[string]string{}
	for _, c := range answer.Claims {
		became[c.ClaimID] = c.Result
	}
	return became
}

// plan writes what the arguments choose to a file, and returns the command line that sends it.
func (h *hospital) plan(t *testing.T, args ...string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.json")
	check.Must(t, os.WriteFile(file, []byte(h.must(t, append(append([]string{"redrive"}, args...), "--json")...)), 0o600))
	return ordered("--plan", file)
}

func TestClaimsAreChosenByTheirLastDecision(t *testing.T) {
	h := openHospital(t)
	for args, want := range map[string]map[string]string{
		"--rule unknown":                         {late: "planned", later: "planned"},
		"--rule transient.504":                   {usedUp: "refused"},
		"--rule transient.504 --force":           {usedUp: "refused"},
		"--rule transient.504 --force --checked": {usedUp: "planned"},
		"--status permanent --force":             {hopeless: "refused"},
		"--status permanent --force --checked":   {hopeless: "planned"},
		"--status waiting":                       {due: "planned", later: "planned"},
		"--status waiting --rule unknown":        {later: "planned"},
		"--rule timeout":                         {due: "planned"},
		"--policy tiss --since 1h":               {due: "planned", later: "planned"},
		"--policy smtp":                          {},
	} {
		check.Same(t, want, h.results(t, 0, strings.Fields(args)...), "%s", args)
	}
	check.Same(t, 0, len(h.messages()), "messages sent by plans")
}

// A refused connection says nothing of the time-outs before it. A person who sent it again has asked about them.
func TestEveryTryMayHaveArrived(t *testing.T) {
	h := openHospital(t)
	timedOut := func(claim, at string) audit.Record {
		return advised(decided{audit.KindRetry, claim, at, "504", "TRANSIENT", "504", 0, 5, 6}.record())
	}
	refused := func(claim string) audit.Record {
		return decided{audit.KindExhausted, claim, "2026-01-12T09:00:00Z", "Connection refused", "TRANSIENT", "NETWORK_ERROR", 5, 0, 0}.record()
	}
	const inDoubt, asked, ordered, never = "CLM-R-011-11", "CLM-R-012-12", "CLM-R-013-13", "CLM-R-015-15"
	records := []audit.Record{
		timedOut(inDoubt, "2026-01-12T08:00:00Z"), rejected(inDoubt, "2026-01-12T08:30:00Z"), refused(inDoubt),
		timedOut(asked, "2026-01-12T07:00:00Z"), ended{audit.KindResubmitted, asked, "2026-01-12T08:00:00Z", 1, 1, ""}.record(), refused(asked),
		timedOut(ordered, "2026-01-12T07:00:00Z"), ended{audit.KindRedriven, ordered, "2026-01-12T08:00:00Z", 1, 1, ""}.record(), refused(ordered),
		timedOut(never, "2026-01-12T07:00:00Z"), ended{audit.KindSubmitted, never, "2026-01-12T08:00:00Z", 1, 1, ""}.record(), refused(never),
	}
	for i := range records {
		records[i].Cluster, records[i].JobKey = "zeebe", int64(100+i)
	}
	audittest.Append(t, h.store, records...)
	want := map[string]string{inDoubt: "refused", asked: "planned", ordered: "planned", never: "planned"}
	check.Same(t, want, h.results(t, 0, "--rule", "NETWORK_ERROR", "--force"), "results")
	h.fails(t, 5, "it may have arrived (CHECK_STATUS)", "redrive", "--claim", inDoubt, "--force")
}

// Also where the insurer says it by the number of a glosa, and the policy advises to ask.
func TestAClaimThatTheInsurerHasIsADuplicate(t *testing.T) {
	h := openHospital(t)
	r := advised(decided{audit.KindPermanent, "CLM-R-014-14", "2026-01-12T09:00:00Z", "guia já apresentada", "PERMANENT", "1308", 0, 0, 0}.record())
	r.Cluster, r.JobKey = "zeebe", 100
	audittest.Append(t, h.store, r)
	h.fails(t, 5, "it may have arrived (DUPLICATE)", ordered("--claim", r.ClaimID, "--force")...)
}

func TestAPlanSendsNothingElse(t *testing.T) {
	h := openHospital(t)
	order := h.plan(t, "--rule", "unknown")
	// Meanwhile one of its claims failed again, one that is not in it as well, and a third stands as it stood.
	audittest.Append(t, h.store, again(late, 71), again(due, 72))
	check.Same(t, map[string]string{late: "refused", later: "done"}, h.results(t, 1, order[1:]...), "results")
	sent := h.messages()
	check.Same(t, 1, len(sent), "messages")
	check.Same(t, later, sent[0].CorrelationKey, "the claim that was sent")
}

// again is a further decision of the kind that came last.
func again(claim string, key int64) audit.Record {
	r := decided{audit.KindRetry, claim, "2026-01-12T09:59:30Z", "erro 77", "UNKNOWN", "", 3, 40, 40}.record()
	r.Cluster, r.JobKey = "zeebe", key
	return r
}

func TestFirstFailureEndsABulkRedrive(t *testing.T) {
	h := openHospital(t)
	h.gateway.Inject(enginetest.PublishMessage, enginetest.Fault{Times: -1, Code: codes.Internal})
	order := h.plan(t, "--policy", "tiss", "--force")
	want := map[string]string{late: "failed", later: "not_tried", due: "not_tried"}
	check.Same(t, want, h.results(t, 1, append(order[1:], "--rate", "1")...), "results")
}

func TestTheRateIsKept(t *testing.T) {
	a := archived(t, week())
	synctest.Test(t, func(t *testing.T) {
		store := a.open(t)
		defer closed(t, store)
		begun, sent := time.Now(), make(chan time.Duration, 10)
		r := redrive.Redriver{
			Store: store, Now: func() time.Time { return today }, Force: true, Checked: true, Timeout: time.Minute,
			Send: func(context.Context, string, redrive.Order) error {
				sent <- time.Since(begun)
				return nil
			},
		}
		claims, err := r.Choose(t.Context(), 48*time.Hour, redrive.Filter{})
		check.Must(t, err)
		r.All(t.Context(), claims, 200*time.Millisecond, func(int) {})
		for n := range 3 {
			check.Same(t, time.Duration(n)*200*time.Millisecond, <-sent, "when message %d was sent", n)
		}
	})
}
