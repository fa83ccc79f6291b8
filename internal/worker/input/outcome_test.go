package input_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker/contract"
	"hospital.example/analyze-retry/internal/worker/input"
)

const redriveID = "5f0c1c7e-9d0a-4f5e-8a51-0b6a3f1f8f10"

// A process may hold variables of these names for something else, and a form may take a long text: none of that
// blocks the end of a round. What a person said is redacted and cut; who decided is kept as given, because audit
// must be able to name a user of the hospital. An accepted claim keeps no reason of an earlier re-drive.
func TestAnOutcomeKeepsWhatAPersonSaidOfIt(t *testing.T) {
	const (
		fit   = `"justification":"paciente 529.982.247-25 ligou","decidedBy":"maria@hospital.example","redriveId":"` + redriveID + `"`
		unfit = `"justification":{"a":1},"decidedBy":7,"redriveId":null`
		kept  = "paciente [número longo] ligou|maria@hospital.example|" + redriveID + "|"
	)
	long := strings.Repeat("não ", 20_000)
	cut := strings.TrimSpace(strings.Repeat("não ", contract.MaxJustification/len([]rune("não "))))
	who := strings.Repeat("é", contract.MaxDecidedBy)
	byPerson := input.ReadOutcome(&job.Job{
		Headers:   `{"byPerson":"true"}`,
		Variables: `{"claimId":"CLM-A-1","outcome":"SUBMITTED","justification":"paga por fora","decidedBy":"ana.lima"}`,
	}).Said
	check.Same(t, "paga por fora ana.lima", byPerson.Justification+" "+byPerson.DecidedBy, "of a claim that a person settled")
	for _, tt := range []struct{ outcome, variables, want string }{
		{"REDRIVEN", fit + `,"redriveWait":"PT160M"`, kept + "PT160M|"},
		{"REDRIVEN", `"justification":"por ordem","redriveWait":"PT0S","decidedBy":"` + who + `"`, "por ordem|" + who + "||PT0M|"},
		{"RESUBMITTED", fit + `,"redriveWait":"PT160M"`, kept + "PT0M|"},
		{"ABANDONED", fit + `,"decisionProblem":"of an earlier answer"`, kept + "PT0M|"},
		{"SUBMITTED", fit, "|||PT0M|"},
		{"ABANDONED", unfit, "|||PT0M|"},
		{"ABANDONED", `"justification":"` + long + `"`, cut + "|||PT0M|"},
		{
			"DECISION_REFUSED", fit + `,"decisionProblem":"A decisão “Reenviar Xyzzy, CPF 529.982.247-25” não existe."`,
			"paciente [número longo] ligou|maria@hospital.example||PT0M|A decisão “Reenviar [palavra], CPF [número longo]” não existe.",
		},
		{"DECISION_REFUSED", `"decisionProblem":"` + long + `"`, "|||PT0M|" + cut},
		{"DECISION_REFUSED", unfit + `,"decisionProblem":{"a":1}`, "|||PT0M|"},
	} {
		o := input.ReadOutcome(&job.Job{Variables: `{"claimId":"CLM-A-1","outcome":"` + tt.outcome + `",` + tt.variables + `}`})
		got := strings.Join([]string{strings.TrimSpace(o.Said.Justification), o.Said.DecidedBy, o.Said.RedriveID, o.Said.RedriveWait.String(), strings.TrimSpace(o.Said.DecisionProblem)}, "|")
		check.Same(t, tt.outcome+" "+tt.want+" []", fmt.Sprintf("%s %s %v", o.Kind, got, o.Invalid), "%s %.100s", tt.outcome, tt.variables)
	}
}

func TestAWrongOutcomeNamesAllItsFaults(t *testing.T) {
	for variables, want := range map[string]string{
		`{"claimId":"CLM-001-1"}`:                       "outcome is missing",
		`{"claimId":"CLM-001-1","outcome":"submitted"}`: `outcome is the text "submitted"`,
		`[]`: "variables is no JSON object",
		`{"claimId":"CLM-001-1","outcome":"REDRIVEN","justification":" \n\u00a0","decidedBy":null}`: "justification is blank",
		`{"claimId":"CLM-001-1","outcome":"REDRIVEN","justification":"why","redriveWait":"5 min"}`:  `redriveWait is the text "5 min"`,
		`{"claimId":"x y","outcome":"REDRIVEN","justification":1,"decidedBy":["maria"],"redriveId":"maria"}`: `claimId is the text "x [word]", ` +
			`redriveId is the text "[word]", justification is 1, decidedBy is a list`,
		`{"claimId":"CLM-001-1","outcome":"REDRIVEN","justification":"why","decidedBy":"` + strings.Repeat("de ", 43) + `"}`: `decidedBy is the text "` + strings.Repeat("de ", 19) + `..."`,
		// What the command to send a claim again writes is looked at whatever the outcome.
		`{"claimId":"CLM-001-1","outcome":"SUBMITTED","redriveId":5,"redriveWait":"yes"}`: `redriveId is 5, redriveWait is the text "yes"`,
		`{"claimId":"CLM-001-1","outcome":"ABANDONED","redriveId":"none"}`:                `redriveId is the text "none"`,
	} {
		var faults []string
		for _, f := range input.ReadOutcome(&job.Job{Variables: variables}).Invalid {
			faults = append(faults, f.Name+" is "+f.Value.String())
		}
		check.Same(t, want, strings.Join(faults, ", "), "faults of %s", variables)
	}
}

// Or an incident about its reason could never be resolved.
func TestARedriveWithAnotherReasonIsAnotherOne(t *testing.T) {
	seen := map[string]bool{}
	for _, more := range []string{``, `,"justification":" "`, `,"justification":"why"`, `,"justification":"why","decidedBy":"maria"`, `,"justification":"why","redriveWait":"PT5M"`} {
		seen[fmt.Sprintf("%q", input.ReadOutcome(&job.Job{Variables: `{"claimId":"CLM-001-1","outcome":"REDRIVEN"` + more + `}`}).Identity)] = true
	}
	check.Same(t, 5, len(seen), "questions")
}
