package replay

import (
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Rounds estimates what would have become of the rounds of submissions whose end is in the trail. docs/simulate.md lists what
// the estimate takes for granted. Its JSON form is stable.
type Rounds struct {
	// Judged are those rounds with a failure whose end is known: Accepted, Exhausted and Permanent, as they went.
	Judged    int `json:"judged"`
	Accepted  int `json:"accepted"`
	Exhausted int `json:"exhausted"`
	Permanent int `json:"permanent"`

	// SavedOwn and SavedOthers are the exhausted ones that the policy would still have tried when the insurer accepted this
	// claim, or another one with the same trouble.
	SavedOwn    int `json:"savedOwn"`
	SavedOthers int `json:"savedOthers"`
	// Retried are permanent ones that the policy would have tried again. Whether they would have been accepted is not known.
	Retried int `json:"permanentTriedAgain"`
	// LostByRule are accepted ones of which the policy calls an earlier error permanent: that is known. LostByTime are those
	// for which its tries would have been over before the insurer accepted.
	LostByRule int `json:"lostByRuleKnown"`
	LostByTime int `json:"lostByTime"`
	// Saved and Lost are examples.
	Saved []string `json:"exampleSaved,omitempty"`
	Lost  []string `json:"exampleLost,omitempty"`

	// Tries are the retries of the judged rounds, Wasted those of them whose round was not accepted. Needless is known: they
	// were made although the policy calls an earlier error of the round permanent. TriesThen and WastedThen are estimates of
	// the first two under the policy.
	Tries      int `json:"retries"`
	Wasted     int `json:"wastedRetries"`
	Needless   int `json:"needlessRetriesKnown"`
	TriesThen  int `json:"retriesThen"`
	WastedThen int `json:"wastedRetriesThen"`

	// Open had no end yet, Cut began before the first record, ByHand were sent again by a person while they were under way,
	// or ended by one. They are not judged.
	Open   int `json:"notJudgedOpen"`
	Cut    int `json:"notJudgedCut"`
	ByHand int `json:"notJudgedByHand"`
}

// ended records how a round ended.
func (r *Replay) ended(record *audit.Record) {
	c := r.claims[record.ClaimID]
	if c == nil {
		return // it had no failure, or not one that is looked at
	}
	accepted := record.Kind == audit.KindSubmitted
	switch {
	case c.over != 0 && !accepted:
		return // a person takes it up, or gives it up; whether the insurer accepts it is to be seen
	case c.over != 0:
	case c.cut:
		r.rounds.Cut++
	case c.byHand || !accepted:
		r.rounds.ByHand++
	default:
		r.accept(c, record.At)
	}
	if accepted {
		for earlier := c; earlier != nil; earlier = earlier.earlier {
			earlier.own = record.At
		}
	}
	delete(r.claims, record.ClaimID)
}

// accept judges a round that was accepted: from the time on at which the accepted try was due.
func (r *Replay) accept(c *course, at time.Time) {
	sum := &r.rounds
	sum.Judged++
	sum.Accepted++
	sum.Tries += c.tries + 1
	r.accepted[c.symptom] = append(r.accepted[c.symptom], acceptance{c.first, c.last, at})
	up := at
	if c.due.Before(at) {
		up = c.due
	}
	c.tryUntil(up)
	switch {
	case !c.next.IsZero():
		sum.TriesThen += c.triesThen + 1
		return
	case c.permanent:
		sum.LostByRule++
	default:
		sum.LostByTime++
	}
	sum.TriesThen += c.triesThen
	sum.WastedThen += c.triesThen
	sum.Lost = example(sum.Lost, c.claim)
}

func example(all []string, claim string) []string {
	if len(all) < maxExamples {
		return append(all, claim)
	}
	return all
}

// Rounds returns the estimate. No record may be added after it.
func (r *Replay) Rounds() Rounds {
	for _, all := range r.accepted {
		slices.SortFunc(all, func(a, b acceptance) int { return a.at.Compare(b.at) })
	}
	sum := r.rounds
	for _, c := range r.claims {
		switch {
		case c.over != 0 && !c.cut && !c.byHand: // judged below
		case c.cut:
			sum.Cut++
		case c.byHand:
			sum.ByHand++
		default:
			sum.Open++
		}
	}
	for _, c := range r.failed {
		r.judge(&sum, c)
	}
	return sum
}

// judge judges a round that was not accepted.
func (r *Replay) judge(sum *Rounds, c *course) {
	sum.Judged++
	sum.Tries += c.tries
	sum.Wasted += c.tries
	sum.Needless += c.needless
	if c.over == audit.KindPermanent {
		sum.Permanent++
		if len(c.after) > 0 {
			sum.Retried++
		}
		r.inVain(sum, c)
		return
	}
	sum.Exhausted++
	up, own := c.own, true
	tried := c.triedFrom(up)
	if tried == 0 {
		up, own = r.othersAccepted(c), false
		tried = c.triedFrom(up)
	}
	if tried == 0 {
		r.inVain(sum, c)
		return
	}
	if own {
		sum.SavedOwn++
	} else {
		sum.SavedOthers++
	}
	sum.Saved = example(sum.Saved, c.claim)
	sum.TriesThen += c.triesThen + tried
}

func (r *Replay) inVain(sum *Rounds, c *course) {
	sum.TriesThen += c.triesThen + len(c.after)
	sum.WastedThen += c.triesThen + len(c.after)
}

// othersAccepted returns when the insurer first accepted another claim with the same trouble, after this one was given up and
// while the policy would still have tried; zero where it did not.
func (r *Replay) othersAccepted(c *course) time.Time {
	if len(c.after) == 0 {
		return time.Time{}
	}
	all := r.accepted[c.symptom]
	i, _ := slices.BinarySearchFunc(all, c.last, func(a acceptance, at time.Time) int { return a.at.Compare(at) })
	for ; i < len(all) && all[i].at.Unix() <= c.after[len(c.after)-1]; i++ {
		if !all[i].first.After(c.last) && !all[i].last.Before(c.first) {
			return all[i].at
		}
	}
	return time.Time{}
}
