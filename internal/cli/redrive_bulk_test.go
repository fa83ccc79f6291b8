package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

// answered is what --json prints about several claims.
type answered struct {
	DryRun                  bool
	Selected, Done, NotDone int
	Claims                  []struct{ ClaimID, Result string }
}

// results runs the command with --json and returns what became of each claim.
func (h *hospital) results(t *testing.T, code int, args ...string) (all answered, byClaim map[string]string) {
	t.Helper()
	h.decodes(t, code, &all, ordered(args...)...)
	byClaim = map[string]string{}
	for _, c := range all.Claims {
		byClaim[c.ClaimID] = c.Result
	}
	return all, byClaim
}

func TestBulkRedriveReportsEachClaim(t *testing.T) {
	h := openHospital(t)
	checkGolden(t, "redrive_bulk", h.must(t, ordered("--class", "UNKNOWN", "--yes")...))
	if n := len(h.messages()); n != 2 {
		t.Errorf("sent %d messages, want 2", n)
	}
}

func TestBulkRedriveFailsIfAnyClaimIsLeft(t *testing.T) {
	h := openHospital(t)
	delete(h.waiting, late) // its timer fires in this moment
	code, stdout, stderr := h.run(t, ordered("--policy", "tiss", "--yes", "--rate", "1000/s", "--wait", "5s")...)
	if code != 1 || stderr != "worker: 3 of 5 claims not sent again\n" {
		t.Errorf("exit code %d, complaint %s", code, stderr)
	}
	checkGolden(t, "redrive_bulk_partly", stdout)
}

func TestADryRunSendsNothing(t *testing.T) {
	h := openHospital(t)
	checkGolden(t, "redrive_dry_run", h.must(t, ordered("--policy", "tiss", "--dry-run", "--reason", "")...))
	h.prints(t, ordered("--claim", due, "--dry-run"), "would be sent again now")
	if n := len(h.messages()); n != 0 {
		t.Errorf("sent %d messages", n)
	}
}

func TestClaimsAreChosenByTheirLastDecision(t *testing.T) {
	h := openHospital(t)
	for args, want := range map[string]map[string]string{
		"--class UNKNOWN":                      {late: "planned", doubtful: "planned"},
		"--class TRANSIENT":                    {due: "planned", usedUp: "refused"},
		"--class PERMANENT --force":            {hopeless: "planned"},
		"--rule transient.504":                 {usedUp: "refused"},
		"--rule transient.504 --force":         {usedUp: "planned"},
		"--status waiting":                     {due: "planned", doubtful: "planned"},
		"--status overdue":                     {late: "planned"},
		"--status exhausted":                   {usedUp: "refused"},
		"--status permanent":                   {hopeless: "refused"},
		"--status waiting --class UNKNOWN":     {doubtful: "planned"},
		"--policy tiss --since 1h":             {due: "planned", doubtful: "planned"},
		"--policy smtp":                        {},
		"--policy tiss --since 30m --rule 504": {},
	} {
		all, got := h.results(t, 0, append(strings.Fields(args), "--dry-run")...)
		if diff := cmp.Diff(want, got); !all.DryRun || all.Selected != len(want) || diff != "" {
			t.Errorf("%s: (-want +got):\n%s", args, diff)
		}
	}
}

func TestBulkRedriveWithoutClaimsSucceeds(t *testing.T) {
	openHospital(t).prints(t, ordered("--policy", "smtp", "--yes"), "0 claims chosen")
}

func TestFirstFailureEndsABulkRedrive(t *testing.T) {
	h := openHospital(t)
	h.gateway.Inject(gatewaytest.PublishMessage, gatewaytest.Fault{Times: -1, Code: codes.Internal})
	all, got := h.results(t, 1, "--policy", "tiss", "--yes", "--rate", "1/h")
	want := map[string]string{usedUp: "refused", hopeless: "refused", late: "failed", doubtful: "not_tried", due: "not_tried"}
	if diff := cmp.Diff(want, got); diff != "" || all.Done != 0 || all.NotDone != 5 {
		t.Errorf("%d done, %d not (-want +got):\n%s", all.Done, all.NotDone, diff)
	}
}

func TestTheRateIsKept(t *testing.T) {
	h := openHospital(t)
	h.must(t, ordered("--policy", "tiss", "--force", "--yes", "--rate", "20/s")...)
	calls := h.gateway.Calls(gatewaytest.PublishMessage)
	// Five claims are four waits apart; a wait that was late may shorten the next one.
	if took := calls[len(calls)-1].At.Sub(calls[0].At); len(calls) != 5 || took < 3*50*time.Millisecond {
		t.Errorf("%d messages in %v, want 5 in at least 150 ms", len(calls), took)
	}
}
