package demo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/testing/check"
)

// parse reads the claims of a test.
func parse(t *testing.T, rows string) []script.Claim {
	t.Helper()
	claims, err := script.Parse(strings.NewReader("claim,answers,outcomes,people,end\n" + rows))
	check.Must(t, err)
	return claims
}

func TestWhatDoesNotGoAsTheFileSaysIsNamed(t *testing.T) {
	transient := history.Try{Decision: &history.Decision{Outcome: "TRANSIENT"}}
	accepted := history.Try{Accepted: true}
	job := history.Job{Type: "analyze-retry", Task: history.Task{Element: "Task_AnalyzeRetry"}}
	for _, c := range []struct {
		name  string
		row   string
		tries []history.Try
		end   string
		at    history.Place
		stuck string
		want  []string
	}{
		{
			name: "all as it says", row: "\"TIMEOUT\nOK\",\"TRANSIENT\nOK\",,SUBMITTED",
			tries: []history.Try{transient, accepted}, end: script.Submitted,
		},
		{
			name: "another end", row: `OK,,,ABANDONED`, tries: []history.Try{accepted}, end: script.Submitted,
			want: []string{"it ended SUBMITTED, the file says ABANDONED"},
		},
		{
			name: "another outcome", row: `X,UNKNOWN,,INCIDENT`, tries: []history.Try{transient}, end: script.Incident,
			want: []string{"submission 1 became TRANSIENT, the file says UNKNOWN"},
		},
		{
			name: "too few submissions", row: "\"X\nOK\",,,INCIDENT", tries: []history.Try{transient}, end: script.Incident,
			want: []string{"it was submitted 1 time, the file has 2 answers"},
		},
		{
			name: "people left over", row: `OK,,billing ABANDON sem uso,SUBMITTED`, tries: []history.Try{accepted}, end: script.Submitted,
			want: []string{"1 act of the people in the file had nothing to do, the first is billing"},
		},
		{
			name: "no end", row: `X,,,SUBMITTED`, at: history.Place{Jobs: map[int64]history.Job{1: job}},
			want: []string{"it did not end: the analyze-retry job of Task_AnalyzeRetry is open, and nothing moved for 30s"},
		},
		{
			name: "no decision", row: `X,,,SUBMITTED`, at: history.Place{UserTasks: map[int64]history.UserTask{1: {Element: "Task_CorrectData"}}},
			want: []string{"it did not end: the user task Task_CorrectData is open, and nothing moved for 30s"},
		},
		{
			name: "no analysis", row: `X,TRANSIENT,,SUBMITTED`, tries: []history.Try{{Error: "X"}},
			want: []string{
				"it did not end: it stands between two elements, or waits for a message, and nothing moved for 30s",
				"submission 1 became nothing yet, the file says TRANSIENT",
			},
		},
		{
			name: "stuck", row: `X,,,SUBMITTED`, tries: []history.Try{transient}, stuck: "it was submitted once more",
			want: []string{"it was submitted once more"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			claim := parse(t, "CLM-1-1,"+c.row+"\n")[0]
			got := faults(&role{claim: claim, stuck: c.stuck},
				Result{Claim: claim, End: c.end, History: history.History{Tries: c.tries, At: c.at}})
			if diff := cmp.Diff(append([]string{}, c.want...), got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}
