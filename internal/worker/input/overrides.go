package input

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// misspelt finds headers whose name is one of ours but for its case or one slip of the fingers: a setting
// that is misspelt must not be a silent default. One slip away from a name of one word, such as max or
// deadline, is another word, which may belong to another worker.
func (r *reader) misspelt() {
	const oneWord = len(contract.HeaderDeadline)
	for _, name := range slices.Sorted(maps.Keys(r.values)) {
		if slices.Contains(contract.Headers(), name) {
			continue
		}
		for _, ours := range contract.Headers() {
			if strings.EqualFold(name, ours) || len(ours) > oneWord && text.OneSlip(name, ours) {
				r.fault(name, text.Messagef("named %s", ours))
			}
		}
	}
}

// chosen returns the policy of a job: the one that a header of its task names, or else the job type's own,
// with what headers and variables override. Where those are at fault it is the one without overrides, so that
// the other variables can be looked at as well.
func chosen(headers, variables *reader, known *policy.Set, fallback string) *retry.Policy {
	p, _ := known.Get(fallback)
	if !headers.absent(contract.HeaderPolicy) {
		rule := text.Messagef("the name of a policy: %s", strings.Join(known.Names(), ", "))
		named := required(headers, contract.HeaderPolicy, rule, known.Get)
		if named == nil {
			return p // the overrides are meant for another one
		}
		p = named
	}
	o := retry.Overrides{
		MaxRetries: optional(headers, contract.HeaderMaxRetries, ruleMaxRetries, parseRetries),
		Base:       optional(headers, contract.HeaderBase, ruleDuration, parseWait),
		Max:        optional(headers, contract.HeaderMax, ruleDuration, parseWait),
		Deadline:   optional(headers, contract.HeaderDeadline, ruleDuration, parseWait),
	}
	// A setting of a policy bears the name of its header. Variables go before headers.
	from := map[string]string{}
	if p.JobOverrides {
		// Attempts count the first try as well (the queue's document), retries do not.
		if n, is := variables.whole(contract.MaxAttempts, ruleMaxAttempts, 1, retry.RetriesCeiling+1); is {
			retries := int(n) - 1
			o.MaxRetries = &retries
		}
		if ms, is := variables.whole(contract.RetryDelay, ruleMilliseconds, 1, maxMilliseconds); is {
			o.Base, from[contract.HeaderBase] = retry.ISODuration(ms*1e6), contract.RetryDelay
		}
		if ms, is := variables.whole(contract.MaxRetryDelay, ruleMilliseconds, 1, maxMilliseconds); is {
			o.Max, from[contract.HeaderMax] = retry.ISODuration(ms*1e6), contract.MaxRetryDelay
		}
	}
	overridden, err := p.With(o)
	if err == nil {
		return overridden
	}
	faults, _ := errors.AsType[text.Findings](err)
	for _, wrong := range faults {
		rule := text.Messagef("one that policy %s can have: %s", p.Name, wrong.What)
		if variable, is := from[wrong.Check]; is {
			variables.fault(variable, rule)
		} else {
			headers.fault(wrong.Check, rule)
		}
	}
	return p
}

// maxMilliseconds is a year: what a policy's max may be.
const maxMilliseconds = int64(366 * 24 * time.Hour / time.Millisecond)

func parseRetries(s string) (retries *int, ok bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	whole := int(n)
	return &whole, err == nil && whole <= retry.RetriesCeiling
}

// parseWait reads a duration of a millisecond or more.
func parseWait(s string) (retry.ISODuration, bool) {
	d, err := retry.ParseDuration(s)
	return retry.ISODuration(d), err == nil && d >= time.Millisecond
}
