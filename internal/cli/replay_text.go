package cli

import (
	"fmt"
	"strings"
	"time"
)

// maxShownRows is how many pairs of rules a terminal is given.
const maxShownRows = 12

// text words a replay for a person at a terminal of 80 columns.
func (r *replayed) text(since span) string {
	var b strings.Builder
	of := ""
	if r.Of != "" {
		of = " of policy " + r.Of
	}
	b.WriteString(wrap(fmt.Sprintf("The decisions%s of the last %s, from %s to %s, asked again under policy %s, version %s.",
		of, since.String(), utc(r.From), utc(r.To), r.Policy, r.PolicyVersion), ""))
	b.WriteString("\nSingle decisions (known)\n\n" + r.Decisions.text())
	b.WriteString("\nRounds of submissions (estimated; how: worker replay --help)\n\n" + r.Rounds.text(r.Policy))
	b.WriteString("\n" + wrap("The texts are as they are kept: without personal data, and cut. A job's own retryUntil is not kept, and was not asked again.", ""))
	return b.String()
}

func (d *replayedDecisions) text() string {
	var b strings.Builder
	b.WriteString(wrap(fmt.Sprintf("%s asked again: %d with another outcome, %d with another class, %d with another wait before jitter.",
		count(d.Replayed, "decision"), d.Outcome, d.Class, d.Wait), "  "))
	if d.Refused > 0 {
		b.WriteString(wrap(fmt.Sprintf("%d more would be invalid input to this policy.", d.Refused), "  "))
	}
	if d.OwnPolicy > 0 {
		b.WriteString(wrap(fmt.Sprintf("%d of them were taken by this very version of the policy. Of these %d come out otherwise: that much is due to what is not kept.",
			d.OwnPolicy, d.OwnOtherwise), "  "))
	}
	for i, row := range d.Rows {
		if i == maxShownRows {
			fmt.Fprintf(&b, "\n  %d more pairs of rules: --json\n", len(d.Rows)-i)
			break
		}
		b.WriteString(row.text())
	}
	return b.String()
}

func (r *replayedRow) text() string {
	var b strings.Builder
	wait := func(seconds float64) string { return ", mean wait " + spell(time.Duration(seconds)*time.Second) }
	before, after := r.Before.words(), r.After.words()
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
	b.WriteString("\n" + hanging(fmt.Sprintf("  %7d  ", r.Decisions), before))
	b.WriteString(hanging("       ->  ", after))
	if r.Before.Outcome != r.After.Outcome || r.Before.Classification != r.After.Classification {
		b.WriteString(hanging("           ", "such as "+plain(strings.Join(r.Claims, ", "))))
	}
	return b.String()
}

func (v *replayedVerdict) words() string {
	return fmt.Sprintf("%s, %s: %s", plain(v.RuleID), v.Classification, v.Outcome)
}

func (r *replayedRounds) text(policy string) string {
	var b strings.Builder
	if r.Judged == 0 {
		b.WriteString(wrap("No round has an end in this time: nothing can be estimated. Ends are known where the process reports them (record-retry-outcome).", "  "))
	} else {
		r.table(&b, policy)
		r.fates(&b)
	}
	if left := r.Open + r.Cut + r.ByHand; left > 0 {
		b.WriteString(wrap(fmt.Sprintf("Not judged: %s: %d without an end yet, %d that began before the time asked for, %d that a person sent again on the way.",
			count(left, "round"), r.Open, r.Cut, r.ByHand), "  "))
	}
	return b.String()
}

func (r *replayedRounds) table(b *strings.Builder, policy string) {
	saved, lost := r.SavedOwn+r.SavedOthers, r.LostByRule+r.LostByTime
	fmt.Fprintf(b, "  %-28s %12s   %24s\n", "", "recorded", cut("under "+policy, 24))
	for _, line := range []struct {
		label      string
		then, that int
	}{
		{"rounds that failed and ended", r.Judged, r.Judged},
		{"accepted in the end", r.Accepted, r.Accepted + saved - lost},
		{"not accepted", r.Judged - r.Accepted, r.Judged - r.Accepted - saved + lost},
		{"retries", r.Tries, r.TriesThen},
		{"wasted: of those not accepted", r.Wasted, r.WastedThen},
	} {
		fmt.Fprintf(b, "  %-29s%12d   %24d\n", line.label, line.then, line.that)
	}
	b.WriteString("\n")
}

// fates says which claims would have gone another way, and what is known of it.
func (r *replayedRounds) fates(b *strings.Builder) {
	say := func(format string, args ...any) { b.WriteString(hanging("  - ", fmt.Sprintf(format, args...))) }
	examples := func(claims []string) string {
		if len(claims) == 0 {
			return ""
		}
		return " Such as " + plain(strings.Join(claims, ", ")) + "."
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
}
