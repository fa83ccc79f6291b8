package policy

import (
	"fmt"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

const (
	// A claim that is tried for so long has most likely a slip in its numbers; after the second no one waits for it any more.
	longHorizon    = 7 * 24 * time.Hour
	endlessHorizon = 30 * 24 * time.Hour
	manyRetries    = retry.RetriesCeiling / 2
	// wideJitter is a jitter that is more likely a slip: half of the delay, so that some wait three times as long as others.
	wideJitter = 0.5
)

// never reports whether no claim is ever tried again, and adds why. Then the waits need no check.
func (l *linter) never() bool {
	const nothing = "nothing is ever tried again: "
	p, before := l.p, len(l.findings)
	if p.MaxRetries == 0 && !p.JobOverrides {
		l.add(SevereError, "no-retries", "maxRetries", nothing+"maxRetries is 0", "raise maxRetries: it is how often a claim is tried again")
	}
	if p.MaxRetries > 0 && p.Deadline > 0 && p.Deadline < p.Min {
		l.add(SevereError, "deadline-too-short", "deadline",
			fmt.Sprintf("%sthe deadline, %s, is shorter than min, %s", nothing, text.Span(p.Deadline), text.Span(p.Min)), "lengthen the deadline, or shorten min")
	}
	transient := func(r retry.Rule) bool { return r.Class != retry.Permanent }
	if p.Unknown == retry.Permanent && !p.AcceptEmptyError && !slices.ContainsFunc(p.Rules, transient) {
		l.add(SevereError, "all-permanent", "unknown", nothing+"no rule is TRANSIENT, and a text that no rule matches is PERMANENT",
			"add TRANSIENT rules, or state unknown: UNKNOWN")
	}
	return len(l.findings) > before
}

// horizon finds retries that end before the outage, that nothing bounds in time, or that the deadline cuts off.
func (l *linter) horizon() {
	p := l.p
	var shortest, longest time.Duration // of all waits together; hints and the tries themselves come on top
	fit := 0
	for next := range retry.Schedule(p, retry.Request{}, time.Unix(0, 0)) {
		shortest, longest = next.TotalShortest, next.TotalLongest
		if !next.Cut {
			fit++
		}
	}
	if l.outage > shortest {
		whose := "the retries of some claims"
		if l.outage > longest {
			whose = "all retries"
		}
		l.add(SevereWarning, "horizon-shorter-than-outage", "maxRetries",
			fmt.Sprintf("an outage of %s outlasts %s: they are used up after %s", text.Span(l.outage), whose, text.Range(shortest, longest)),
			"raise maxRetries, factor or max, so that the shortest waits last")
	}
	_, first := p.Band(0)
	switch endless := longest > endlessHorizon || p.MaxRetries >= manyRetries; {
	case p.MaxRetries == 0:
	case p.Deadline == 0 && (endless || longest > longHorizon):
		severity := SevereInformation
		if endless {
			severity = SevereWarning
		}
		l.add(severity, "unbounded", "maxRetries",
			fmt.Sprintf("nothing bounds the retries in time: there is no deadline, and %d retries wait up to %s in all", p.MaxRetries, text.About(longest)),
			"set a deadline: the time after which the claim needs a person anyway")
	case p.Deadline > 0 && p.Deadline < first:
		l.add(SevereWarning, "deadline-too-short", "deadline",
			fmt.Sprintf("the first wait can be %s, longer than the deadline, %s: the first try is pulled forward to it and is the only one", text.Span(first), text.Span(p.Deadline)),
			"lengthen the deadline, or shorten base")
	case p.Deadline > 0 && fit < p.MaxRetries:
		l.add(SevereInformation, "deadline-cuts-retries", "deadline",
			fmt.Sprintf("of %s only the first %d always end before the deadline, %s", text.Count(p.MaxRetries, "wait"), fit, text.Span(p.Deadline)),
			"lengthen the deadline if all retries are wanted")
	}
}

// waits finds numbers that have no effect, or another one than they seem to.
func (l *linter) waits() {
	p := l.p
	if p.Min > p.Base {
		l.add(SevereWarning, "min-above-base", "min",
			fmt.Sprintf("min, %s, is longer than base, %s: the first wait is not base", text.Span(p.Min), text.Span(p.Base)), "raise base to min, or lower min")
	}
	if p.MaxRetries == 0 {
		l.add(SevereInformation, "no-retries", "maxRetries", "a job is tried again only if it states max_attempts: maxRetries is 0",
			"raise maxRetries, unless all jobs state max_attempts")
		return
	}
	if p.MaxRetries > 1 && p.Factor > 1 && p.Base == p.Max {
		l.add(SevereWarning, "factor-without-room", "max", fmt.Sprintf("max is base, %s: no wait is longer than the first, whatever the factor", text.Span(p.Max)),
			"raise max, or state factor: 1")
	}
	if p.MaxRetries > 2 && p.Base < p.Max && p.Delay(1) == p.Max {
		l.add(SevereInformation, "cap-at-once", "max", fmt.Sprintf("max, %s, is the second wait already", text.Span(p.Max)), "raise max, or lower factor, if the waits are to grow")
	}
	l.jitter()
}

// jitter finds claims that come back together, and those that come back when they will.
func (l *linter) jitter() {
	p := l.p
	const together = "claims that fail together come back together"
	switch {
	case !l.states("jitter"):
		l.add(SevereWarning, "no-jitter", "jitter", "there is no jitter: "+together, "state jitter: 0.2, or jitter: 0 if that is meant")
	case p.Jitter >= wideJitter:
		l.add(SevereWarning, "wide-jitter", "jitter", fmt.Sprintf("jitter is %g: a wait is up to %.0f %% shorter or longer", p.Jitter, 100*p.Jitter), "0.2 is 20 %, 0.01 is 1 %")
	}
	for n := range p.MaxRetries {
		if shortest, longest := p.Band(n); p.Jitter > 0 && shortest == longest {
			l.add(SevereWarning, "jitter-without-room", "jitter",
				fmt.Sprintf("jitter spreads nothing before retry %d: min, max and precision leave one wait, %s, so %s", n+1, text.Span(shortest), together),
				"choose a finer precision, a lower min, a higher max or a larger jitter")
			return
		}
	}
}
