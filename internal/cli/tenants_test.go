package cli_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// shared is a claim id that the default tenant and the tenant clinic use.
const shared = "CLM-T-001-1"

// twoTenants are records of a claim with one id: the default tenant's has used its retries up, the clinic's waits, and was accepted
// once before.
func twoTenants() []audit.Record {
	all := []audit.Record{
		decided{audit.KindRetry, shared, "2026-01-11T08:00:00Z", "TIMEOUT", "TRANSIENT", "TIMEOUT", 0, 5, 6}.record(),
		ended{audit.KindSubmitted, shared, "2026-01-11T08:10:00Z", 2, 1, "2026-01-11T08:00:00Z"}.record(),
		decided{audit.KindExhausted, shared, "2026-01-12T08:00:00Z", "504", "TRANSIENT", "504", 5, 0, 0}.record(),
		decided{audit.KindRetry, shared, "2026-01-12T09:40:00Z", "erro 78", "UNKNOWN", "", 3, 40, 40}.record(),
	}
	for _, n := range []int{0, 1, 3} {
		all[n].Tenant = "clinic"
	}
	return keyed(all)
}

func TestHistoryTellsTheTenantsOfAClaimApart(t *testing.T) {
	a := archived(t, twoTenants())
	whole := a.must(t, "history", shared)
	checkScreen(t, whole)
	contains(t, "history", whole, "Claim "+shared+" of tenant clinic, 3 records Now: waits for retry 4 of 5", "Claim "+shared+", 1 record Now: all retries are used up")
	check.Same(t, a.must(t, "history", shared, "--tenant", "clinic")+"\n"+a.must(t, "history", shared, "--tenant", audit.DefaultTenant), whole, "history of both")
	contains(t, "in Portuguese", a.must(t, "history", shared, "--tenant", "clinic", "--lang", "pt-BR"), "Conta "+shared+" do tenant clinic, 3 registros")

	var got []string
	for lines := json.NewDecoder(strings.NewReader(a.must(t, "history", shared, "--json"))); lines.More(); {
		var one struct {
			Tenant, Status string
			Records        []struct{ Tenant string }
		}
		check.Must(t, lines.Decode(&one))
		got = append(got, strings.Join([]string{one.Tenant, one.Status, one.Records[0].Tenant}, " "))
	}
	check.Same(t, []string{"clinic waiting clinic", " exhausted "}, got, "tenants as JSON")
	contains(t, "export", a.must(t, "audit", "export", shared), `"tenant":"clinic"`)
	a.must(t, "audit", "verify")
}

func TestATenantWithoutTheClaimIsNamed(t *testing.T) {
	archived(t, twoTenants()).fails(t, 1, "nothing is known of claim "+shared+" of tenant ward in sqlite://STORE; it is one of <default>, clinic", "history", shared, "--tenant", "ward")
}

func TestAnEmptyTenantChoosesNothing(t *testing.T) {
	a := archived(t, twoTenants())
	for _, command := range [][]string{{"history", shared}, {"claims"}, {"kpi"}, {"report"}, ordered("--claim", shared)} {
		a.fails(t, 2, "give the id of a tenant", append(command, "--tenant", "")...)
	}
}

func TestClaimsOfTenantsAreListedApart(t *testing.T) {
	a := archived(t, twoTenants())
	list := a.must(t, "claims")
	checkScreen(t, list)
	contains(t, "claims", list, "CLAIM TENANT STATE", shared+" <default> stopped", shared+" clinic waiting", "waiting 1, stopped 1")
	narrow := a.must(t, "claims", "--tenant", audit.DefaultTenant)
	if strings.Contains(narrow, "TENANT") || !strings.Contains(narrow, "stopped 1.") {
		t.Errorf("claims of the default tenant:\n%s", narrow)
	}
	var got struct {
		Claims []struct{ ClaimID, Tenant, State string }
	}
	a.decodes(t, 0, &got, "claims", "--tenant", "clinic")
	check.Same(t, []struct{ ClaimID, Tenant, State string }{{shared, "clinic", "waiting"}}, got.Claims, "claims of the clinic")
	csv := strings.Split(strings.TrimSpace(a.must(t, "claims", "--csv")), "\n")
	for i, end := range []string{",tenant", ",<default>", ",clinic"} {
		if !strings.HasSuffix(csv[i], end) {
			t.Errorf("line %d of the CSV does not end in %s: %s", i, end, csv[i])
		}
	}
	if one := a.must(t, "claims", "--csv", "--tenant", audit.DefaultTenant); strings.Contains(one, "tenant") {
		t.Errorf("a column for one tenant:\n%s", one)
	}
}

func TestKPIsCountTheClaimsOfTenantsApart(t *testing.T) {
	a := archived(t, twoTenants())
	for tenant, want := range map[string]int{"": 2, "clinic": 1, audit.DefaultTenant: 1, "ward": 0} {
		args := []string{"kpi", "--json"}
		if tenant != "" {
			args = append(args, "--tenant", tenant)
		}
		var got struct {
			Tenant   string
			Policies []struct{ Claims struct{ Sent int } }
		}
		a.decodes(t, 0, &got, args...)
		check.Same(t, tenant, got.Tenant, "tenant")
		sent := 0
		for _, p := range got.Policies {
			sent += p.Claims.Sent
		}
		check.Same(t, want, sent, "claims of %q", tenant)
	}
	contains(t, "kpi", a.must(t, "kpi", "--tenant", "clinic"), "Tenant: clinic")
}

func TestAReportIsOfOneTenantOrTellsThemApart(t *testing.T) {
	a := archived(t, twoTenants())
	contains(t, "report", a.must(t, "report", "--from", "2026-01-01", "--tz", "UTC"), "| CLAIM | TENANT | STATE |", shared+" | &lt;default> |", shared+" | clinic |")
	one := a.must(t, "report", "--from", "2026-01-01", "--tz", "UTC", "--tenant", "clinic")
	contains(t, "report", one, "Tenant: clinic", "| tiss | 1 |", "| waiting | 1 |", "| stopped | 0 |")
	dir := t.TempDir()
	a.must(t, "report", "--from", "2026-01-01", "--tz", "UTC", "--dir", dir)
	for _, tenant := range []string{"clinic", audit.DefaultTenant} {
		a.must(t, "report", "--from", "2026-01-01", "--tz", "UTC", "--dir", dir, "--tenant", tenant)
	}
	files, err := filepath.Glob(filepath.Join(dir, "report_*.md"))
	check.Must(t, err)
	for i := range files {
		files[i] = strings.TrimPrefix(filepath.Base(files[i]), "report_")
	}
	slices.Sort(files)
	check.Same(t, []string{"%3Cdefault%3E_2026-01-01_2026-01-12.md", "2026-01-01_2026-01-12.md", "clinic_2026-01-01_2026-01-12.md"}, files, "files")
}

func TestARedriveGoesToTheTenantOfItsClaim(t *testing.T) {
	h := openHospital(t)
	h.gateway.Assign("clinic", audit.DefaultTenant)
	for _, r := range twoTenants() {
		r.JobKey += 1000
		h.add(t, h.store, r)
	}
	h.fails(t, 2, "several tenants have a claim "+shared+": give --tenant with one of <default>, clinic", ordered("--claim", shared)...)
	check.Same(t, 0, len(h.messages()), "messages")
	h.fails(t, 4, "its retries are over", ordered("--claim", shared, "--tenant", audit.DefaultTenant)...)
	h.mu.Lock()
	h.waiting[shared] = audit.KindRedriven
	h.mu.Unlock()
	contains(t, "redrive", h.must(t, ordered("--claim", shared, "--tenant", "clinic")...), "Claim "+shared+" of tenant clinic is sent again now")
	check.Same(t, "clinic", h.messages()[0].TenantId, "tenant of the message")
	h.must(t, ordered("--claim", due)...) // which one tenant has
	check.Same(t, audit.DefaultTenant, h.messages()[1].TenantId, "tenant of the message of a claim of the default tenant")
}

func TestAChoiceOfClaimsCanBeOfOneTenant(t *testing.T) {
	h := openHospital(t)
	for _, r := range twoTenants() {
		r.JobKey += 1000
		h.add(t, h.store, r)
	}
	var got struct {
		Claims []struct{ ClaimID, Tenant string }
	}
	h.decodes(t, 0, &got, "redrive", "--reason", orderedReason, "--class", "UNKNOWN", "--dry-run", "--tenant", "clinic")
	check.Same(t, []struct{ ClaimID, Tenant string }{{shared, "clinic"}}, got.Claims, "claims")
	contains(t, "preview", h.must(t, "redrive", "--reason", orderedReason, "--class", "UNKNOWN", "--dry-run"), shared+" of tenant clinic", late)
}
