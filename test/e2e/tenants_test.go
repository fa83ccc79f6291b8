package e2e

import (
	"errors"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/internal/testing/identitytest"
	"hospital.example/analyze-retry/test/suite"
)

// clinics is the stage of a hospital whose clinics are tenants of one broker. The broker asks Identity who calls and for which
// tenants.
type clinics struct {
	*scene
	identity *identitytest.Server
	store    string
}

// The clients that Identity knows, each with its tenants.
const (
	ofBoth = "worker-of-both" // clinic-a and clinic-b
	ofA    = "worker-of-a"    // clinic-a and the default tenant
	ofB    = "worker-of-b"    // clinic-b
	secret = "s3cret"
)

// atTheClinics sets that scene, with the bundled models deployed for both clinics.
func atTheClinics(t *testing.T) *clinics {
	t.Helper()
	lanes.Take(t, true)
	if version := devbroker.VersionFromEnv(); devbroker.InMemory(version) {
		suite.LeavesOut(t, "Camunda's test gateway, which runs the engine of %s, has no tenants", version)
		t.SkipNow() // only where ZEEBE_TEST_VERSION names such an engine: the default is a broker, which has tenants
	}
	c := &clinics{scene: &scene{T: t}, identity: identitytest.Start(t)}
	c.identity.Know(ofBoth, secret, "clinic-a", "clinic-b")
	c.identity.Know(ofA, secret, "clinic-a", "<default>")
	c.identity.Know(ofB, secret, "clinic-b")
	settings := c.identity.BrokerSettings()
	if overREST() {
		settings = append(settings, c.identity.RESTSettings()...)
	}
	b, err := suite.StartBroker(t.Context(), "e2e", devbroker.Options{
		Records: true, Settings: settings, Credentials: c.identity.Credentials(ofBoth),
	})
	check.Must(t, err)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	c.broker, c.store = b, t.TempDir()
	for _, tenant := range []string{"clinic-a", "clinic-b"} {
		c.says(ofBoth, tenant, "deploy").ends(0, "SUB_06")
	}
	return c
}

// part runs a part of the test at the same broker, with a store of its own.
func (c *clinics) part(name string, story func(*clinics)) {
	c.Helper()
	c.scene.part(name, func(s *scene) { story(&clinics{s, c.identity, s.TempDir()}) })
}

// as are the settings of a worker for these tenants, with the credentials of a client.
func (c *clinics) as(client, tenants string) []string {
	return []string{
		"RETRY_TENANTS=" + tenants, "RETRY_DATABASE_URL=sqlite://" + filepath.Join(c.store, "store.db"),
		"ZEEBE_CLIENT_ID=" + client, "ZEEBE_CLIENT_SECRET=" + secret,
		"ZEEBE_AUTHORIZATION_SERVER_URL=" + c.identity.TokenURL(), "ZEEBE_TOKEN_AUDIENCE=" + identitytest.Audience,
	}
}

// worksAs starts a worker for these tenants, with the credentials of a client.
func (c *clinics) worksAs(client, tenants string) *worker {
	c.Helper()
	return c.startWorker(c.as(client, tenants)...)
}

// of is the scene of one clinic.
func (c *clinics) of(tenant string) *scene {
	return &scene{c.T, c.broker, c.since, tenant}
}

// said is what a command has printed.
type said struct {
	scene *scene
	args  []string
	code  int
	text  string
}

// says runs a command of the worker for these tenants, with the credentials of a client.
func (c *clinics) says(client, tenants string, args ...string) said {
	c.Helper()
	ctx, cancel := c.within(patience)
	defer cancel()
	command := workerCommand(ctx, gatewayOf(c.broker), args...)
	command.Env = append(command.Env, c.as(client, tenants)...)
	out, err := command.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		c.Fatal(err)
	}
	return said{c.scene, args, command.ProcessState.ExitCode(), string(out)}
}

// ends fails the test where the command ended with another exit code, or printed no line with these words.
func (s said) ends(code int, words ...string) {
	s.scene.Helper()
	if s.code != code || !hasLine(s.text, words...) {
		s.scene.Errorf("worker %v: exit code %d, want %d and a line with %q:\n%s", s.args, s.code, code, words, s.text)
	}
}

// hasLine reports whether a line of the text has all the words.
func hasLine(text string, words ...string) bool {
	for line := range strings.Lines(text) {
		has := true
		for _, word := range words {
			has = has && strings.Contains(line, word)
		}
		if has {
			return true
		}
	}
	return false
}

// waitsWith waits until the worker answers /readyz with this status and all these words.
func (w *worker) waitsWith(status int, words ...string) {
	w.scene.Helper()
	var got int
	var text string
	w.scene.until("/readyz has the words", func() bool {
		got, text = w.get(w.scene.Context(), "/readyz")
		return got == status && hasLine(text, words...)
	}, func() string { return text })
}

// isUntouched fails the test where a worker has done the claim's analysis.
func (c *claim) isUntouched() {
	c.Helper()
	c.next("the analysis", "JOB", "CREATED", func(e event) bool { return e.Type == analyzeRetry })
	if n := len(c.events("JOB", "COMPLETED", func(e event) bool { return e.Type == analyzeRetry && c.has(e.ProcessInstanceKey) })); n > 0 {
		c.Errorf("%d of the claim's analyses were done", n)
	}
}

// No part moves the broker's clock: for up to a minute after that the broker calls its partition unhealthy, and the worker is not
// ready for that reason.
func TestTenants(t *testing.T) {
	c := atTheClinics(t)
	for name, story := range map[string]func(*clinics){
		"a worker of one tenant leaves the jobs of others": worksOneTenant,
		"claims of one id in two tenants are two":          tellsTenantsApart,
		"a tenant that is not assigned is named":           namesRefusedTenants,
		"credentials that are refused are named":           namesRefusedCredentials,
		"jobs that nothing asks for are named":             namesUnaskedTenants,
		"deployments go to one tenant":                     deploysForOneTenant,
		"an expired token is replaced":                     replacesTokens,
	} {
		c.part(name, story)
	}
}

func worksOneTenant(c *clinics) {
	left := c.of("clinic-b").submits("CLM-TENANT-1")
	left.submissionFails("TIMEOUT")
	w := c.worksAs(ofBoth, "clinic-a")
	w.answers("/readyz", http.StatusOK)
	for range 2 {
		worked := c.of("clinic-a").submits("CLM-TENANT-1")
		worked.submissionFails("TIMEOUT")
		worked.waits(5, 6)
	}
	left.isUntouched()
	w.stops()

	c.worksAs(ofBoth, "clinic-b,clinic-a")
	left.waits(5, 6)
}

func tellsTenantsApart(c *clinics) {
	c.worksAs(ofBoth, "clinic-a,clinic-b")
	inA, inB := c.of("clinic-a").submits("CLM-TENANT-2"), c.of("clinic-b").submits("CLM-TENANT-2")
	inA.submissionFails("TIMEOUT")
	inB.submissionFails("INVALID_PATIENT_DATA")
	inA.waits(5, 6)
	inA.waitsForAnOrder("Event_RedriveClaim")
	inB.notifies("registration")
	c.says(ofBoth, "clinic-a,clinic-b", "history", "CLM-TENANT-2").ends(0, "Claim CLM-TENANT-2 of tenant clinic-a")
	c.says(ofBoth, "clinic-a,clinic-b", "history", "CLM-TENANT-2").ends(0, "Claim CLM-TENANT-2 of tenant clinic-b")
	c.says(ofBoth, "clinic-a,clinic-b", "claims").ends(0, "CLM-TENANT-2", "clinic-a")
	c.says(ofBoth, "clinic-a,clinic-b", "claims").ends(0, "CLM-TENANT-2", "clinic-b")

	order := []string{"redrive", "--reason", reason, "--operator", "maria", "--claim", "CLM-TENANT-2"}
	c.says(ofBoth, "clinic-a,clinic-b", order...).ends(2, "--tenant")
	c.says(ofBoth, "clinic-a,clinic-b", append(order, "--tenant", "clinic-b")...).ends(5, "billed twice")
	c.says(ofB, "clinic-b", append(order, "--tenant", "clinic-a")...).ends(1, "clinic-a", "not authorized")
	c.says(ofBoth, "clinic-a,clinic-b", append(order, "--tenant", "clinic-a")...).ends(0, "REDRIVEN at ")
	inA.submission().complete(nil)
	inA.endsAt("EndEvent_ClaimSubmitted")
	if n := len(inB.jobs(submitClaim)); n != 1 {
		c.Errorf("the other tenant's claim was submitted %d times, want once", n)
	}
	c.says(ofBoth, "clinic-a", "audit", "verify").ends(0)
}

func namesRefusedTenants(c *clinics) {
	if overREST() {
		suite.LeavesOut(c.T, "the REST API of 8.6 hands out the jobs of every tenant")
		return
	}
	w := c.worksAs(ofB, "clinic-a")
	w.waitsWith(http.StatusServiceUnavailable, "no poll for jobs comes through", "clinic-a", "not authorized")
	c.says(ofB, "clinic-a", "doctor").ends(1, "tenants", "a poll for clinic-a is refused", "not authorized")
	w.stops()

	// One that does not exist has the whole poll refused, and the jobs of the other tenant wait.
	w = c.worksAs(ofA, "clinic-a,clinic-x")
	w.waitsWith(http.StatusServiceUnavailable, "clinic-x", "not authorized")
	c.says(ofA, "clinic-a,clinic-x", "doctor").ends(1, "tenants", "clinic-x", "not authorized")
	w.stops()

	// Before 8.9 no cluster knows it.
	w = c.worksAs(ofA, "ASSIGNED")
	w.waitsWith(http.StatusServiceUnavailable, "no tenant identifiers were provided")
	c.says(ofA, "ASSIGNED", "doctor").ends(1, "ASSIGNED needs Camunda 8.9 or later")
}

func namesRefusedCredentials(c *clinics) {
	refused := c.as(ofA, "clinic-a")
	w := c.startWorker(append(refused, "ZEEBE_CLIENT_SECRET=wrong")...)
	w.waitsWith(http.StatusServiceUnavailable, "the authorization server answered 401, invalid_client")
}

func namesUnaskedTenants(c *clinics) {
	w := c.worksAs(ofA, "<default>")
	const note = "multi-tenancy is on and only the jobs of the tenant <default> are asked for; name the tenants in RETRY_TENANTS"
	w.waitsWith(http.StatusOK, "ready, but "+note)
	w.logs(0, "tenants_not_asked_for", note)
	c.says(ofA, "<default>", "doctor").ends(0, "warning", "tenants", note)
	w.stops()

	w = c.worksAs(ofA, "<default>,clinic-a")
	w.answers("/readyz", http.StatusOK)
	c.says(ofA, "<default>,clinic-a", "doctor").ends(0, "ok", "tenants", "<default>,clinic-a")
}

func deploysForOneTenant(c *clinics) {
	c.says(ofA, "<default>", "deploy").ends(0, "SUB_06")
	c.says(ofA, "<default>,clinic-a", "deploy").ends(2, "CAMUNDA_DEFAULT_TENANT_ID is missing")
	c.says(ofA, "clinic-b", "deploy").ends(1, "clinic-b", "not authorized")
	c.says(ofA, "clinic-z", "deploy").ends(1, "clinic-z", "not authorized")
}

func replacesTokens(c *clinics) {
	defer c.identity.LetTokensLive(time.Hour, time.Hour)
	for name, said := range map[string]time.Duration{
		"as it was said":       2 * time.Second,
		"before it was to end": time.Hour, // so the gateway has to refuse it
	} {
		c.part(name, func(c *clinics) {
			c.identity.LetTokensLive(2*time.Second, said)
			before := c.identity.Issued(ofA)
			c.worksAs(ofA, "clinic-a")
			c.until("the worker has its third token", func() bool { return c.identity.Issued(ofA) >= before+3 },
				func() string { return "it has not" })
			claim := c.of("clinic-a").submits("CLM-TENANT-3")
			claim.submissionFails("TIMEOUT")
			claim.waits(5, 6)
		})
	}
}
