package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/replay"
	"hospital.example/analyze-retry/internal/term"
)

// Replay is what replay answers. Its JSON form is stable: names are added, never changed.
type Replay struct {
	Policy        string    `json:"policy"`
	PolicyVersion string    `json:"policyVersion"`
	Of            string    `json:"of,omitempty"`
	From          time.Time `json:"from"`
	To            time.Time `json:"to"`
	// Decisions is known, Rounds estimated but for the names that say otherwise.
	Decisions replay.Decisions `json:"decisions"`
	Rounds    replay.Rounds    `json:"rounds"`
}

// maxShownRows is how many pairs of rules a terminal is given.
const maxShownRows = 12

// Text words the replay.
func (r *Replay) Text() string {
	var b strings.Builder
	of := ""
	if r.Of != "" {
		of = " of policy " + r.Of
	}
	b.WriteString(term.Wrap(fmt.Sprintf("The decisions%s of the last %s, from %s to %s, asked again under policy %s, version %s.",
		of, term.Span(r.To.Sub(r.From)), term.Time(r.From), term.Time(r.To), r.Policy, r.PolicyVersion), ""))
	b.WriteString("\nSingle decisions (known)\n\n" + decisionsText(&r.Decisions))
	b.WriteString("\nRounds of submissions (estimated; how: worker replay --help)\n\n" + roundsText(&r.Rounds, r.Policy))
	b.WriteString("\n" + term.Wrap("The texts are as they are kept: without personal data, and cut. A job's own retryUntil is not kept, and was not asked again.", ""))
	return b.String()
}

func decisionsText(d *replay.Decisions) string {
	var b strings.Builder
	b.WriteString(term.Wrap(fmt.Sprintf("%s asked again: %d with another outcome, %d with another class, %d with another wait before jitter.",
		term.Count(d.Replayed, "decision"), d.Outcome, d.Class, d.Wait), "  "))
	if d.Refused > 0 {
		b.WriteString(term.Wrap(fmt.Sprintf("%d more would be invalid input to this policy.", d.Refused), "  "))
	}
	if d.OwnPolicy > 0 {
		b.WriteString(term.Wrap(fmt.Sprintf("%d of them were taken by this very version of the policy. Of these %d come out otherwise: that much is due to what is not kept.",
			d.OwnPolicy, d.OwnOtherwise), "  "))
	}
	for i := range d.Rows {
		if i == maxShownRows {
			fmt.Fprintf(&b, "\n  %d more pairs of rules: --json\n", len(d.Rows)-i)
			break
		}
		b.WriteString(rowText(&d.Rows[i]))
	}
	return b.String()
}

func rowText(r *replay.Row) string {
	var b strings.Builder
	wait := func(d replay.Seconds) string { return ", mean wait " + term.About(time.Duration(d)) }
	words := func(v *replay.Verdict) string {
		return fmt.Sprintf("%s, %s: %s", term.Line(v.Rule), v.Class, v.Outcome)
	}
	before, after := words(&r.Before), words(&r.After)
	switch {
	case r.Before.MeanWait > 0 && before == after:
		after = "the same" + wait(r.After.MeanWait)
		before += wait(r.Before.MeanWait)
	case r.Before.MeanWait > 0:
		before += wait(r.Before.MeanWait)
		after += wait(r.After.MeanWait)
	case before == after:
		after = "the same"
	}
	b.WriteString("\n" + term.Hanging(fmt.Sprintf("  %7d  ", r.Decisions), before))
	b.WriteString(term.Hanging("       ->  ", after))
	if r.Before.Outcome != r.After.Outcome || r.Before.Class != r.After.Class {
		b.WriteString(term.Hanging("           ", "such as "+term.Line(strings.Join(r.Claims, ", "))))
	}
	return b.String()
}

func roundsText(r *replay.Rounds, policy string) string {
	var b strings.Builder
	if r.Judged == 0 {
		b.WriteString(term.Wrap("No round has an end in this time: nothing can be estimated. Ends are known where the process reports them (record-retry-outcome).", "  "))
	} else {
		b.WriteString(roundsTable(r, policy) + changesText(r))
	}
	if left := r.Open + r.Cut + r.ByHand; left > 0 {
		b.WriteString(term.Wrap(fmt.Sprintf("Not judged: %s: %d without an end yet, %d that began before the time asked for, %d that a person sent again on the way.",
			term.Count(left, "round"), r.Open, r.Cut, r.ByHand), "  "))
	}
	return b.String()
}

func roundsTable(r *replay.Rounds, policy string) string {
	rows := [][]string{{"", "recorded", "under " + term.Shorten(policy, 24)}}
	row := func(label string, recorded, under int) {
		rows = append(rows, []string{label, strconv.Itoa(recorded), strconv.Itoa(under)})
	}
	gained := r.SavedOwn + r.SavedOthers - r.LostByRule - r.LostByTime
	row("rounds that failed and ended", r.Judged, r.Judged)
	row("accepted in the end", r.Accepted, r.Accepted+gained)
	row("not accepted", r.Judged-r.Accepted, r.Judged-r.Accepted-gained)
	row("retries", r.Tries, r.TriesThen)
	row("wasted: of those not accepted", r.Wasted, r.WastedThen)
	return term.Table("  ", rows) + "\n"
}

// changesText lists the claims that would have ended otherwise, and how sure that is.
func changesText(r *replay.Rounds) string {
	var b strings.Builder
	say := func(format string, args ...any) { b.WriteString(term.Hanging("  - ", fmt.Sprintf(format, args...))) }
	examples := func(claims []string) string {
		if len(claims) == 0 {
			return ""
		}
		return " Such as " + term.Line(strings.Join(claims, ", ")) + "."
	}
	say("Saved: %d of the %d that used up their retries. It would still have tried when the insurer accepted the same claim later (%d), or another one with the same trouble (%d).%s",
		r.SavedOwn+r.SavedOthers, r.Exhausted, r.SavedOwn, r.SavedOthers, examples(r.Saved))
	say("Lost: %d of the %d that were accepted. It calls an earlier error of theirs permanent (%d, known), or its tries would have been over (%d).%s",
		r.LostByRule+r.LostByTime, r.Accepted, r.LostByRule, r.LostByTime, examples(r.Lost))
	if r.Permanent > 0 {
		say("Of the %d that were stopped as permanent it would have tried %d again. Whether they would have been accepted is not known; they count as not accepted.", r.Permanent, r.Retried)
	}
	if r.Needless > 0 {
		say("Needless: %d of the wasted retries were made after an error that it calls permanent (known).", r.Needless)
	}
	return b.String()
}
