package script_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/testing/check"
)

const header = "claim,shows,answers,outcomes,people,end\n"

func TestARowBecomesAClaim(t *testing.T) {
	claims, err := script.Parse(strings.NewReader(header +
		`GUIA-7,"first, of all","TIMEOUT: ""x"", y
INVALID_PATIENT_DATA
EMPTY
OK","INCIDENT, TRANSIENT
PERMANENT_ERROR
INCIDENT
OK","operator claimId=CLM-1-7
registration RESUBMIT  Data corrected
operator submissionError = 503",SUBMITTED
`))
	check.Must(t, err)
	want := []script.Claim{{
		Line: 2, ID: "GUIA-7", Shows: "first, of all",
		Answers:  []string{`TIMEOUT: "x", y`, "INVALID_PATIENT_DATA", script.Empty, script.Accepted},
		Outcomes: []string{"INCIDENT, TRANSIENT", "PERMANENT_ERROR", "INCIDENT", "OK"},
		Acts: []script.Act{
			{Who: script.Operator, Variable: "claimId", Value: "CLM-1-7"},
			{Who: script.Registration, Decision: script.Resubmit, Justification: "Data corrected"},
			{Who: script.Operator, Variable: "submissionError", Value: "503"},
		},
		End: script.Submitted,
	}}
	if diff := cmp.Diff(want, claims); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"GUIA-7", "CLM-1-7"}, claims[0].IDs()); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

func TestWhatASpreadsheetMakesOfTheFileIsRead(t *testing.T) {
	plain := header + "CLM-1-1,,\"TIMEOUT\nOK\",,,SUBMITTED\n"
	want, err := script.Parse(strings.NewReader(plain))
	check.Must(t, err)
	for name, saved := range map[string]string{
		"semicolons":          strings.ReplaceAll(plain, ",", ";"),
		"byte order mark":     "\uFEFF" + plain,
		"CRLF":                strings.ReplaceAll(plain, "\n", "\r\n"),
		"empty rows":          plain + ",,,,,\n\n",
		"capitals and blanks": "Claim, Shows,ANSWERS,outcomes,people,end \n" + strings.TrimPrefix(plain, header),
		"other order":         "end,claim,answers\nSUBMITTED,CLM-1-1,\"TIMEOUT\nOK\"\n",
	} {
		got, err := script.Parse(strings.NewReader(saved))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestAllFaultsAreReportedWithTheirLines(t *testing.T) {
	_, err := script.Parse(strings.NewReader(header +
		`CLM-1-1,,OK,OK,,SUBMITED
CLM-1-2,,"TIMEOUT

OK
OK","TRANSIENT
MAYBE",boss RESUBMIT,SUBMITTED
CLM-1-1,,,,"billing RESUBMIT
registration WAIT
operator claimId",ABANDONED
,,OK,TRANSIENT,,SUBMITTED
CLM-1-5,OK
CLM-1-6,,OK,,operator claimId=CLM-1-2,SUBMITTED
CLM-1-7,,OK,,"

boss ABANDON",SUBMITTED
`))
	want := `line 2: "SUBMITED" is no end; there are SUBMITTED, ABANDONED, INCIDENT
line 3: answer 2 is empty: write EMPTY for a refusal without a text
line 3: answer 3 is OK, but a claim that is accepted is not submitted again
line 3: outcomes and answers differ in number: 2 and 4 lines
line 3: "MAYBE" is no outcome; there are OK, TRANSIENT, UNKNOWN, PERMANENT_ERROR, MAX_RETRIES_EXCEEDED, INCIDENT
line 3: "boss" does nothing here; there are billing, registration, operator
line 8: answers is empty: give one line for each submission, OK or the text of an error
line 8: billing RESUBMIT lacks the justification: without one the model gives the task back
line 8: registration decides "WAIT"; a team decides RESUBMIT or ABANDON
line 8: operator claimId: write variable=value; the variables are claimId, submissionError
line 8: the claim CLM-1-1 is there already, at line 2
line 11: the outcome TRANSIENT does not go with the answer: OK goes with OK only
line 11: claim is empty: give its number
line 12: 2 cells, but the header has 6 (a cell that contains a separator or a quote stands in quotes)
line 13: the claim CLM-1-2 is there already, at line 3
line 14: "boss" does nothing here; there are billing, registration, operator`
	if !errors.As(err, &script.Faults{}) {
		t.Fatalf("error %v, want faults", err)
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestAFileThatIsNoTableOfClaimsSaysWhy(t *testing.T) {
	for content, want := range map[string]string{
		"":                          "line 1: the first line must name the columns: EOF",
		header:                      "line 1: there is no claim in the file",
		"claim,end\n":               "line 1: the column answers is missing",
		"claim,answers,end,claim\n": "line 1: the column claim is there twice",
		"claim,answers,ends,end\n":  `line 1: there is no column "ends", only claim, shows, answers, outcomes, people, end`,
		header + "CLM-1-1,,\"OK,,,SUBMITTED\nCLM-1-2,,OK,,,SUBMITTED\n": `line 2: extraneous or missing " in quoted-field; ` +
			"the rest of the file was not read",
	} {
		_, err := script.Parse(strings.NewReader(content))
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", content, err, want)
		}
	}
}

// The promises of the README about the bundled file.
func TestTheBundledClaimsShowEveryWayAClaimCanGo(t *testing.T) {
	file, err := os.Open("../../../../examples/claims.csv")
	check.Must(t, err)
	defer file.Close()
	claims, err := script.Parse(file)
	check.Must(t, err)
	if len(claims) < 12 {
		t.Errorf("%d claims, want 12 or more", len(claims))
	}
	var all strings.Builder
	for _, c := range claims {
		if c.Outcomes == nil || c.Shows == "" {
			t.Errorf("%s: say what it shows and what must become of it", c.ID)
		}
		all.WriteString(c.End + "\n" + strings.Join(c.Outcomes, ",") + "\n")
		for _, a := range c.Answers {
			all.WriteString(a + "\n")
		}
	}
	for _, word := range []string{
		"\nTRANSIENT,OK\n", "\nTRANSIENT,TRANSIENT,TRANSIENT,OK\n",
		"\nTRANSIENT,TRANSIENT,TRANSIENT,TRANSIENT,TRANSIENT,OK\n", "UNKNOWN", "MAX_RETRIES_EXCEEDED,TRANSIENT",
		"INVALID_PATIENT_DATA", "INSURANCE_EXPIRED", "AUTHORIZATION_DENIED", "DUPLICATE_CLAIM", "INVALID_PROCEDURE_CODE",
		"INCIDENT, TRANSIENT", "\nEMPTY\n", "ABANDONED\n", "INCIDENT\nINCIDENT\n",
	} {
		if !strings.Contains(all.String(), word) {
			t.Errorf("no claim shows %q", word)
		}
	}
}

func FuzzParseFindsClaimsOrFaults(f *testing.F) {
	f.Add(header + "CLM-1-1,,\"TIMEOUT\nOK\",,billing ABANDON,SUBMITTED\n")
	f.Add("\uFEFFclaim;answers;end\r\nCLM-1-1;\"EMPTY\";INCIDENT\r\n")
	f.Add(header + "\"")
	f.Fuzz(func(t *testing.T, content string) {
		claims, err := script.Parse(strings.NewReader(content))
		if errors.As(err, &script.Faults{}) {
			return
		}
		if err != nil || len(claims) == 0 {
			t.Fatalf("%d claims, error %v", len(claims), err)
		}
		for _, c := range claims {
			if c.ID == "" || len(c.Answers) == 0 || c.Outcomes != nil && len(c.Outcomes) != len(c.Answers) {
				t.Errorf("a claim with a fault came through: %+v", c)
			}
		}
	})
}
