package policy

import (
	"fmt"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

const (
	longHorizon = 30 * 24 * time.Hour
	manyRetries = retry.RetriesCeiling / 2
)

// never reports whether no claim is ever tried again, and adds why. Then the waits need no check.
func (l *linter) never() bool {
	const nothing = "nothing is ever tried again: "
	p, before := l.p, len(l.findings)
	if p.MaxRetries == 0 && !p.JobOverrides {
		l.add(l.setting("maxRetries"), SevereError, "no-retries", nothing+"maxRetries is 0", "raise maxRetries: it is how often a claim is tried again")
	}
	if p.MaxRetries > 0 && p.Deadline > 0 && p.Deadline < p.Min {
		l.add(l.setting("deadline"), SevereError, "deadline-too-short",
			fmt.Sprintf("%sthe deadline, %s, is shorter than min, %s", nothing, text.Span(p.Deadline), text.Span(p.Min)),
			"lengthen the deadline, or shorten min")
	}
	if l.allPermanent() {
		l.add(l.setting("unknown"), SevereError, "all-permanent", nothing+"no rule is TRANSIENT, and a text that no rule matches is PERMANENT",
			"add TRANSIENT rules, or state unknown: UNKNOWN")
	}
	return len(l.findings) > before
}

// allPermanent reports whether every error is permanent. An accepted blank text is not: it is an unknown error.
func (l *linter) allPermanent() bool {
	transient := func(r retry.Rule) bool { return r.Class != retry.Permanent }
	return l.p.Unknown == retry.Permanent && !l.p.AcceptEmptyError && !slices.ContainsFunc(l.p.Rules, transient)
}

// horizon finds retries without a bound in time, and retries that end before the outage.
func (l *linter) horizon() {
	p := l.p
	var shortest, longest time.Duration // of all waits together; hints and the tries themselves come on top
	for next := range retry.Schedule(p, retry.Request{}, time.Unix(0, 0)) {
		shortest, longest = next.TotalShortest, next.TotalLongest
	}
	if p.Deadline == 0 && (longest > longHorizon || p.MaxRetries >= manyRetries) {
		l.add(l.setting("maxRetries"), SevereWarning, "unbounded",
			fmt.Sprintf("nothing bounds the retries in time: there is no deadline, and %d retries wait up to %s in all", p.MaxRetries, text.About(longest)),
			"set a deadline: the time after which the claim needs a person anyway")
	}
	switch {
	case l.outage > longest:
		l.add(l.setting("maxRetries"), SevereWarning, "horizon-shorter-than-outage",
			fmt.Sprintf("an outage of %s outlasts all retries: they are used up after %s", text.Span(l.outage), text.Range(shortest, longest)),
			"raise maxRetries, factor or max")
	case l.outage > shortest:
		l.add(l.setting("maxRetries"), SevereWarning, "horizon-shorter-than-outage",
			fmt.Sprintf("an outage of %s outlasts the retries of some claims: they are used up after %s", text.Span(l.outage), text.Range(shortest, longest)),
			"raise maxRetries, factor or max, so that the shortest waits last too")
	}
}

// deadline finds a deadline that cuts retries off.
func (l *linter) deadline() {
	p := l.p
	if p.Deadline == 0 || p.MaxRetries == 0 {
		return
	}
	_, first := p.Band(0)
	fit := 0
	for next := range retry.Schedule(p, retry.Request{}, time.Unix(0, 0)) {
		if next.Cut {
			break
		}
		fit++
	}
	switch {
	case p.Deadline < first:
		l.add(l.setting("deadline"), SevereWarning, "deadline-too-short",
			fmt.Sprintf("the first wait can be %s, longer than the deadline, %s: the first try is pulled forward to it and is the only one", text.Span(first), text.Span(p.Deadline)),
			"lengthen the deadline, or shorten base")
	case fit < p.MaxRetries:
		l.add(l.setting("deadline"), SevereInformation, "deadline-cuts-retries",
			fmt.Sprintf("of %s only the first %d always end before the deadline, %s; the next one is pulled forward to it if at least min remains",
				text.Count(p.MaxRetries, "wait"), fit, text.Span(p.Deadline)),
			"lengthen the deadline if all retries are wanted")
	}
}

// waits finds settings of the waits that have no effect.
func (l *linter) waits() {
	p := l.p
	if p.Min > p.Base {
		l.add(l.setting("min"), SevereWarning, "min-above-base",
			fmt.Sprintf("min, %s, is longer than base, %s: the first wait is not base", text.Span(p.Min), text.Span(p.Base)),
			"raise base to min, or lower min")
	}
	if p.MaxRetries == 0 {
		l.add(l.setting("maxRetries"), SevereInformation, "no-retries", "a job is tried again only if it states max_attempts: maxRetries is 0",
			"raise maxRetries, unless all jobs state max_attempts")
		return
	}
	_, longest := p.Band(p.MaxRetries - 1)
	if longest < p.Max {
		l.add(l.setting("max"), SevereInformation, "cap-not-reached",
			fmt.Sprintf("the %s cap is never reached with %s: the longest wait is %s", text.Span(p.Max), text.Count(p.MaxRetries, "retry"), text.Span(longest)),
			"lower max, unless it is there to bound server hints")
	}
	for n := range p.MaxRetries {
		if shortest, longest := p.Band(n); p.Jitter > 0 && shortest == longest {
			l.add(l.setting("jitter"), SevereWarning, "jitter-without-room",
				fmt.Sprintf("jitter spreads nothing before retry %d: min, max and precision leave one wait, %s, so claims that fail together come back together",
					n+1, text.Span(shortest)),
				"choose a finer precision, a lower min, a higher max or a larger jitter")
			break
		}
	}
}
