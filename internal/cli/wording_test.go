package cli

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/claims/kpi"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/policytest"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/input"
)

var (
	portuguese = &wording{Printer: text.In(text.Portuguese)}
	english    = &wording{Printer: text.In(text.English)}
)

func TestACauseHasTheTermOfItsCode(t *testing.T) {
	for _, c := range []struct{ rule, code, want string }{
		{"transient.TIMEOUT", "TIMEOUT", "TIMEOUT: no answer in time"},
		{"transient.503", "503", "HTTP 503, Service Unavailable"},
		{"http.away", "502", "HTTP 502, Bad Gateway"},
		{"tiss.glosa", "1308", "glosa 1308, GUIA JÁ APRESENTADA"},
		{"tiss.answer-glosa", "1308", "glosa 1308, GUIA JÁ APRESENTADA"},
		{"smtp.550", "550", "SMTP 550, Mailbox unavailable"},
		{"smtp.connection", "timed out", "no connection to the mail server (timed out)"},
		{"service.away", "manutenc*", "the insurer's system is away (manutenc…)"},
		{"tiss.window", "3091", "glosa 3091, COBRANÇA FORA DO PRAZO ESTIPULADO NO CONTRATO"},
		{"ours.certificate", "certificado .. vencid*", "certificado … vencid…"},
		{"ours.1550", "550", "550"}, // that the ID has these digits says nothing of the code
		{"unknown", "", "no rule knows the text"},
	} {
		check.Same(t, c.want, english.cause(c.rule, c.code), "%s", c.rule)
	}
	check.Same(t, "INSURANCE_EXPIRED: convênio vencido", portuguese.cause("x", "INSURANCE_EXPIRED"), "pt-BR")
}

func TestTheFaultOfAnInputIsSaidWithoutWhatIsAroundIt(t *testing.T) {
	faults := input.Faults{{Name: "submissionError", Value: text.Messagef("blank"), Rule: text.Messagef("a UUID")}}
	for _, in := range []*wording{english, portuguese} {
		got := fault(in.Text(faults.Text()))
		if !strings.HasPrefix(got, "submissionError") || strings.Contains(got, ". ") {
			t.Errorf("%q", got)
		}
	}
}

func TestEveryCodeHasAName(t *testing.T) {
	codes := map[string][]string{
		"class":   {string(retry.Transient), string(retry.Permanent), string(retry.Unknown)},
		"failure": {string(retry.Transient), string(retry.Permanent), string(retry.Unknown)},
		"kind":    {audit.KindExhausted.String(), audit.KindPermanent.String(), audit.KindRejected.String()},
		"with":    {"billing", "registration", "operations"},
		"column":  columns,
		"kpi":     slices.Collect(maps.Keys(retry.KPIs())),
		"step":    {"1", "2", "3", "4", "5", "6"},
		"verdict": {string(kpi.Met), string(kpi.Missed), string(kpi.NoData), string(kpi.NoTarget)},
	}
	for _, s := range append(claims.Standings(), "none") {
		codes["standing"] = append(codes["standing"], string(s))
	}
	for _, p := range policy.BuiltIns().All() {
		for _, r := range p.Rules { // of those that find no code
			if r.Terms != nil && r.Glosa == nil || r.SOAPFault != nil {
				codes["rule"] = append(codes["rule"], r.ID)
			}
		}
	}
	for group, all := range codes {
		for _, code := range all {
			if portuguese.Name(group, code) == code {
				t.Errorf("%s %s has no name", group, code)
			}
		}
	}
	check.Same(t, "100%d", english.Name("cause", "100%d"), "a code without a name")
}

func TestEveryWordOfTheDocumentsHasATerm(t *testing.T) {
	for _, name := range []string{"rn-bil-005", "tiss"} {
		for _, rule := range policy.BuiltIn(name).Rules {
			for _, code := range rule.Contains {
				if words := english.cause(rule.ID, code); words == code {
					t.Errorf("%s: %s has no term", name, code)
				}
			}
		}
	}
}

func TestAPolicyIsShownAsAFileThatMakesItAgain(t *testing.T) {
	for _, p := range policy.BuiltIns().All() {
		shown := policyInFull(policy.BuiltIns(), p)
		w := &wording{Printer: english.Printer}
		shown.say(w)
		_, file, _ := strings.Cut(w.String(), "\npolicies:\n")
		set := policytest.Set(t, "policies:\n"+file)
		again, _ := set.Get(p.Name)
		check.Same(t, p.Version(), again.Version(), "version of %s", p.Name)
		check.Same(t, p.Targets, again.Targets, "targets of %s", p.Name)
	}
}

func TestASpreadsheetTakesNoCellForAFormula(t *testing.T) {
	for cell, want := range map[string]string{"": "", "-": "-", "-1+2": "'-1+2", "=1": "'=1", "+1": "'+1", "@x": "'@x", "CLM-1-1": "CLM-1-1", "7": "7", "007": "'007", "1E5": "'1E5", "1.50": "'1.50", "123456789012": "'123456789012"} {
		check.Same(t, want, spreadsheetSafe(cell), "%q", cell)
	}
}

func TestTheReasonOfAClaimIsInTheLanguage(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		claim         claims.Claim
		want, english string
	}{
		{claims.Claim{State: audit.State{Kind: audit.KindResubmitted}}, "", ""},
		{
			claims.Claim{Standing: audit.Incident, State: audit.State{Message: "entrada inválida: x é 1. 5: não. Corrija as variáveis"}},
			"x é 1. 5: não", "x é 1. 5: não",
		},
		{claims.Claim{Standing: audit.Incident, State: audit.State{Kind: audit.KindRejected}}, "ENTRADA REJEITADA (REJECTED)", "REJECTED"},
		{claims.Claim{State: audit.State{Rule: retry.RuleUnknown}}, "nenhuma regra reconhece o texto", "no rule knows the text"},
		{claims.Claim{State: audit.State{Rule: "tiss.glosa", Code: "1308"}}, "glosa 1308, GUIA JÁ APRESENTADA", "glosa 1308, GUIA JÁ APRESENTADA"},
		{claims.Claim{State: audit.State{Rule: "own", Code: "out (of"}}, "out (of", "out (of"},
	} {
		check.Same(t, c.want, portuguese.reason(&c.claim), "in Portuguese")
		check.Same(t, c.english, english.reason(&c.claim), "in English")
	}
	dead := claims.Claim{Standing: audit.DeadLetter}
	check.Same(t, "carta morta", portuguese.standing(&dead, now), "a state")
}

func TestATeamThatDecidedIsNamedInTheLanguage(t *testing.T) {
	for by, want := range map[string]string{"billing": "faturamento", "registration": "cadastro", "maria": "maria"} {
		claim := claims.Claim{Standing: audit.Abandoned, State: audit.State{DecidedBy: by}}
		check.Same(t, "abandonada, por "+want, portuguese.standing(&claim, time.Time{}), "a claim")
	}
}
