package demo

import (
	"fmt"

	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/term"
)

// role is what the file has everybody do with a claim, and how far it is played.
type role struct {
	claim    script.Claim
	instance int64
	// free plays a model for which the file was not made: whoever is to decide takes the next decision, and
	// what is not in the file goes well.
	free bool
	// submitted and acted are how many of the answers and acts are used up, jobs how many jobs were played.
	submitted, acted, jobs int
	// stuck says why the file cannot go on with the claim; empty while it can.
	stuck string
}

// answer is what the insurer says to the next submission; ok is false where the file does not know.
func (r *role) answer() (answer string, ok bool) {
	if r.submitted == len(r.claim.Answers) {
		if r.free {
			return script.Accepted, true
		}
		r.stuck = fmt.Sprintf("it was submitted once more, but the file has %s only",
			term.Count(r.submitted, "answer"))
		return "", false
	}
	r.submitted++
	return r.claim.Answers[r.submitted-1], true
}

// decide is what a team decides about the claim; ok is false where the file does not know.
func (r *role) decide(team string) (act script.Act, ok bool) {
	if r.nextIs(team) || r.free && r.nextIsTeam() {
		return r.next(), true
	}
	r.stuck = fmt.Sprintf("the %s team is to decide, but the file does not have it next", team)
	return script.Act{}, false
}

// nextIs reports whether the next to act is who.
func (r *role) nextIs(who string) bool {
	return r.acted < len(r.claim.Acts) && r.claim.Acts[r.acted].Who == who
}

func (r *role) nextIsTeam() bool { return r.nextIs(script.Billing) || r.nextIs(script.Registration) }

// next takes the next act.
func (r *role) next() script.Act {
	r.acted++
	return r.claim.Acts[r.acted-1]
}
