package demo

import (
	"fmt"

	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/term"
)

// cast is what the file has everybody do, and how far it is played.
type cast struct {
	roles []*role
	// byID finds a claim by any number it goes by.
	byID map[string]*role
}

// role is one claim's part.
type role struct {
	claim    script.Claim
	instance int64
	// submitted and acted are how many of the answers and acts are used up.
	submitted, acted int
	// stuck says why the file cannot go on with the claim; empty while it can.
	stuck string
}

func newCast(claims []script.Claim) *cast {
	c := &cast{byID: map[string]*role{}}
	for _, claim := range claims {
		r := &role{claim: claim}
		c.roles = append(c.roles, r)
		for _, id := range claim.IDs() {
			c.byID[id] = r
		}
	}
	return c
}

// answer is what the insurer says to the next submission of a claim; ok is false where the file does not know.
func (c *cast) answer(claimID string) (answer string, ok bool) {
	r := c.byID[claimID]
	if r == nil {
		return "", false
	}
	if r.submitted == len(r.claim.Answers) {
		r.stuck = fmt.Sprintf("it was submitted once more, but the file has %s only", term.Count(r.submitted, "answer"))
		return "", false
	}
	r.submitted++
	return r.claim.Answers[r.submitted-1], true
}

// decide is what a team decides about the claim; ok is false where the file does not know.
func (r *role) decide(team string) (act script.Act, ok bool) {
	if !r.nextIs(team) {
		r.stuck = fmt.Sprintf("the %s team is to decide, but the file does not have it next", team)
		return script.Act{}, false
	}
	return r.next(), true
}

// nextIs reports whether the next to act is who.
func (r *role) nextIs(who string) bool {
	return r.acted < len(r.claim.Acts) && r.claim.Acts[r.acted].Who == who
}

// next takes the next act.
func (r *role) next() script.Act {
	r.acted++
	return r.claim.Acts[r.acted-1]
}
