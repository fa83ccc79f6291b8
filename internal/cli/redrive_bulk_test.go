package cli_test

import (
	"encoding/json"
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
	Claims                  []struct{ ClaimID, Status, RuleID, Result, Fault, Message, RedriveID, Recorded string }
}

// results runs the command with --json and returns what became of each claim.
func (h *hospital) results(t *testing.T, args ...string) (code int, all answered, byClaim map[string]string) {
	t.Helper()
	code, stdout, stderr := h.redrive(t, append(args, "--json")...)
	if err := json.Unmarshal([]byte(stdout), &all); err != nil {
		t.Fatalf("exit code %d, %v: %s%s", code, err, stdout, stderr)
	}
	byClaim = map[string]string{}
	for _, c := range all.Claims {
		byClaim[c.ClaimID] = c.Result
	}
	return code, all, byClaim
}

func TestBulkRedriveReportsEachClaim(t *testing.T) {
	h := openHospital(t)
	code, stdout, stderr := h.redrive(t, "--class", "UNKNOWN", "--yes")
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d, complaint %s", code, stderr)
	}
	checkGolden(t, "redrive_bulk", stdout)
	if n := len(h.messages()); n != 2 {
		t.Errorf("sent %d messages, want 2", n)
	}
}

func TestBulkRedriveFailsIfAnyClaimIsLeft(t *testing.T) {
	h := openHospital(t)
	delete(h.waiting, late) // its timer fires in this moment
	code, stdout, stderr := h.redrive(t, "--policy", "tiss", "--yes", "--rate", "1000/s", "--wait", "5s")
	if code != 1 || stderr != "worker: 3 of 5 claims not sent again\n" {
		t.Errorf("exit code %d, complaint %s", code, stderr)
	}
	checkGolden(t, "redrive_bulk_partly", stdout)
}

func TestADryRunSendsNothing(t *testing.T) {
	h := openHospital(t)
	code, stdout, stderr := h.redrive(t, "--policy", "tiss", "--dry-run", "--reason", "")
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d, complaint %s", code, stderr)
	}
	checkGolden(t, "redrive_dry_run", stdout)
	if code, stdout, _ = h.redrive(t, "--claim", due, "--dry-run"); code != 0 || !strings.Contains(stdout, "would be sent again now") {
		t.Errorf("exit code %d, output %s", code, stdout)
	}
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
		code, all, got := h.results(t, append(strings.Fields(args), "--dry-run")...)
		if diff := cmp.Diff(want, got); code != 0 || !all.DryRun || all.Selected != len(want) || diff != "" {
			t.Errorf("%s: exit code %d, (-want +got):\n%s", args, code, diff)
		}
	}
}

func TestBulkRedriveWithoutClaimsSucceeds(t *testing.T) {
	h := openHospital(t)
	code, stdout, stderr := h.redrive(t, "--policy", "smtp", "--yes")
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "0 claims chosen") {
		t.Errorf("exit code %d, output %s, complaint %s", code, stdout, stderr)
	}
}

func TestFirstFailureEndsABulkRedrive(t *testing.T) {
	h := openHospital(t)
	h.gateway.Inject(gatewaytest.PublishMessage, gatewaytest.Fault{Times: -1, Code: codes.Internal})
	code, all, got := h.results(t, "--policy", "tiss", "--yes", "--rate", "1/h")
	want := map[string]string{usedUp: "refused", hopeless: "refused", late: "failed", doubtful: "not_tried", due: "not_tried"}
	if diff := cmp.Diff(want, got); diff != "" || code != 1 || all.Done != 0 || all.NotDone != 5 {
		t.Errorf("exit code %d, %d done, %d not (-want +got):\n%s", code, all.Done, all.NotDone, diff)
	}
}

func TestTheRateIsKept(t *testing.T) {
	h := openHospital(t)
	if code, _, stderr := h.redrive(t, "--policy", "tiss", "--force", "--yes", "--rate", "20/s"); code != 0 {
		t.Fatalf("exit code %d, complaint %s", code, stderr)
	}
	calls := h.gateway.Calls(gatewaytest.PublishMessage)
	// Five claims are four waits apart; a wait that was late may shorten the next one.
	if took := calls[len(calls)-1].At.Sub(calls[0].At); len(calls) != 5 || took < 3*50*time.Millisecond {
		t.Errorf("%d messages in %v, want 5 in at least 150 ms", len(calls), took)
	}
}
