package demo

import (
	"cmp"
	"fmt"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/internal/term"
)

// faults says in what a claim did not go as the file says.
func faults(r *role, result Result) []string {
	faults := []string{} // in JSON a list, also if it is empty
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if r.stuck != "" {
		fault("%s", r.stuck)
	}
	if result.End == "" && r.stuck == "" {
		fault("it did not end: %s, and nothing moved for %s", whereabouts(result.At), patience)
	}
	if r.free {
		return faults // the file is not about these models
	}
	if result.End != "" && result.End != r.claim.End {
		fault("it ended %s, the file says %s", result.End, r.claim.End)
	}
	tries := result.Tries
	for i, want := range r.claim.Outcomes {
		if i >= len(tries) {
			break
		}
		if got := tries[i].Outcomes(); got != want {
			fault("submission %d became %s, the file says %s", i+1, cmp.Or(got, "nothing yet"), want)
		}
	}
	if result.End == "" {
		return faults // what is left over follows from that
	}
	if given, used := len(r.claim.Answers), len(tries); used < given {
		fault("it was submitted %s, the file has %s", term.Count(used, "time"), term.Count(given, "answer"))
	}
	if left := r.claim.Acts[r.acted:]; len(left) > 0 {
		fault("%s of the people in the file had nothing to do, the first is %s",
			term.Count(len(left), "act"), left[0].Who)
	}
	return faults
}

// whereabouts says where a claim is.
func whereabouts(at history.Place) string {
	for _, j := range at.Jobs {
		return fmt.Sprintf("the %s job of %s is open", j.Type, j.Task.Element)
	}
	for _, task := range at.UserTasks {
		return fmt.Sprintf("the user task %s is open", task.Element)
	}
	if len(at.Timers) > 0 {
		return "its timer did not fire"
	}
	return "it stands between two elements, or waits for a message"
}
