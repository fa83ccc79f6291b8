package demo

import (
	"cmp"
	"fmt"
	"slices"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/term"
)

// faults says in what a claim did not go as the file says; nil where it did.
func faults(r *role, result Result) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if r.stuck != "" {
		fault("%s", r.stuck)
	}
	switch c := result.Claim; {
	case result.End == "" && r.stuck == "":
		fault("it did not end: %s, and nothing moved for %s", whereabouts(result.History.At), patience)
	case result.End != "" && result.End != c.End:
		fault("it ended %s, the file says %s", result.End, c.End)
	}
	tries := result.History.Tries
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
	for i, try := range tries {
		if want := toRecord(try); !slices.Equal(try.Recorded, want) {
			fault("after submission %d the worker recorded %v, want %v", i+1, try.Recorded, want)
		}
	}
	if given, used := len(r.claim.Answers), len(tries); used < given {
		fault("it was submitted %s, the file has %s", term.Count(used, "time"), term.Count(given, "answer"))
	}
	if left := r.claim.Acts[r.acted:]; len(left) > 0 {
		fault("%s of the people in the file had nothing to do, the first is %s", term.Count(len(left), "act"), left[0].Who)
	}
	return faults
}

// toRecord returns what the worker has to record after a submission of a claim that has gone on from there.
func toRecord(try history.Try) []string {
	if try.Accepted {
		return []string{script.Submitted}
	}
	if n := len(try.Reviews); n > 0 {
		switch try.Reviews[n-1].Decision {
		case script.Resubmit:
			return []string{resubmitted}
		case script.Abandon:
			return []string{script.Abandoned}
		}
	}
	return nil
}

// resubmitted is what the model has recorded of a claim that a person sends again.
const resubmitted = "RESUBMITTED"

// whereabouts says where a claim is.
func whereabouts(at history.Place) string {
	switch {
	case at.Job != nil:
		return fmt.Sprintf("the %s job of %s is open", at.Job.Type, at.Job.Element)
	case at.UserTask != nil:
		return fmt.Sprintf("the user task %s is open", at.UserTask.Element)
	case !at.Due.IsZero():
		return "its timer did not fire"
	default:
		return "it stands between two elements"
	}
}
