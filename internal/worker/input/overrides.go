package input

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

var (
	ruleMaxRetries   = text.Messagef("a whole number from 0 to 1000")
	ruleMaxAttempts  = text.Messagef("a whole number from 1 to 1001, or absent")
	ruleMilliseconds = text.Messagef("whole milliseconds, 1 or more, or absent")
	ruleDuration     = text.Messagef("a duration of more than 0, such as 500ms, 90s, 5m, 24h or PT5M")
	ruleWith         = text.Messagef("a word such as billing or dead-letter: 1 to 30 of a to z and -")
)

// policyFor returns the policy of a job: the one that its task names, or else the job type's own, with what task and job
// override. What is wrong becomes a fault; it then returns the policy without overrides, so that the other variables
// can be looked at as well. settled is false where another set of policies could help.
func (r *reader) policyFor(j *job.Job, known *policy.Set, name string) (chosen *retry.Policy, settled bool) {
	fallback, _ := known.Get(name)
	if plain := j.Headers == "" || j.Headers == "{}"; plain && !fallback.JobOverrides {
		return fallback, true
	}
	headers, settled := r.headers(j)
	r.onExhausted, r.onPermanent = r.with(headers, contract.HeaderOnExhausted), r.with(headers, contract.HeaderOnPermanent)
	if named, is := headers[contract.HeaderPolicy]; is {
		other, is := known.Get(named)
		if !is {
			r.headerFault(contract.HeaderPolicy, named, text.Messagef("the name of a policy: %s", strings.Join(known.Names(), ", ")))
			return fallback, false
		}
		fallback = other
	}
	o := overrides{reader: r, headers: headers, from: map[string]origin{}}
	o.fromHeaders()
	if fallback.JobOverrides {
		o.fromVariables()
	}
	chosen, err := fallback.With(o.Overrides)
	if err != nil {
		o.misfits(fallback.Name, err)
		return fallback, false
	}
	return chosen, settled && !r.faultyHeader
}

// headers returns the task headers; ok is false if they cannot be read.
func (r *reader) headers(j *job.Job) (headers map[string]string, ok bool) {
	if j.Headers == "" {
		return nil, true
	}
	if err := json.Unmarshal([]byte(j.Headers), &headers); err != nil {
		r.headerFault("", j.Headers, text.Messagef("texts"))
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		for _, ours := range contract.Headers() {
			// A setting that is misspelt must not be a silent default.
			if name != ours && meant(strings.Map(lettersOnly, name), ours) {
				r.headerFault(name, headers[name], text.Messagef("named %s", ours))
			}
		}
	}
	return headers, true
}

// withWord is what a header may name as the one with whom a claim is.
var withWord = regexp.MustCompile(`^[a-z-]{1,30}$`)

// with reads a header that names with whom a claim is left; empty where it is absent or at fault.
func (r *reader) with(headers map[string]string, name string) string {
	s, is := headers[name]
	if is && !withWord.MatchString(s) {
		r.headerFault(name, s, ruleWith)
		return ""
	}
	return s
}

// meant reports whether a header that is not one of ours was meant to be it. For a distinctive name one slip is enough;
// a short one such as "max" may belong to another worker.
func meant(name, ours string) bool {
	unmistakable := slices.Contains(distinctive, ours)
	return strings.EqualFold(name, ours) || unmistakable && text.OneSlip(name, ours) || otherNames[strings.ToLower(name)] == ours
}

var distinctive = []string{contract.HeaderPolicy, contract.HeaderMaxRetries, contract.HeaderOnExhausted, contract.HeaderOnPermanent}

// otherNames are what people call our headers, in small letters.
var otherNames = map[string]string{
	"policy": contract.HeaderPolicy, "policyname": contract.HeaderPolicy, "retrypolicyname": contract.HeaderPolicy,
	"maxretry": contract.HeaderMaxRetries, "maxattempts": contract.HeaderMaxRetries, "maxretrycount": contract.HeaderMaxRetries,
	"backoff": contract.HeaderBase, "basedelay": contract.HeaderBase, "initialbackoff": contract.HeaderBase,
	"maxbackoff": contract.HeaderMax, "maxdelay": contract.HeaderMax,
}

func lettersOnly(c rune) rune {
	if c == '-' || c == '_' || c == '.' || c == ' ' {
		return -1
	}
	return c
}

// maxShownHeader is how much of a header is shown. It is a text of the model, not of a patient.
const maxShownHeader = 60

func (r *reader) headerFault(name, value string, rule text.Message) {
	r.faultyHeader = true
	r.fault(strings.TrimSpace(retry.HeaderFault+" "+name), text.Messagef("%q", redact.Cut(value, maxShownHeader)), rule)
}

// overrides collects what task and job change of a policy.
type overrides struct {
	retry.Overrides
	*reader
	headers map[string]string
	// from is where a setting of the policy comes from, for a fault that only shows when all is put together.
	from map[string]origin
}

// origin is a header or a variable, and what it holds.
type origin struct {
	name  string
	value text.Message
}

// misfits notes the overrides that the policy refuses once they are put together.
func (o *overrides) misfits(policyName string, err error) {
	joined, _ := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	for _, one := range joined.Unwrap() {
		wrong, _ := errors.AsType[*retry.SettingError](one)
		if from := o.from[wrong.Setting]; !o.faulty(from.name) {
			o.fault(from.name, from.value, text.Messagef("one that policy %s can have: %s %s", policyName, wrong.Setting, wrong.Problem))
		}
	}
}

func (o *overrides) fromHeaders() {
	if s, is := o.headers[contract.HeaderMaxRetries]; is {
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil || n > retry.RetriesCeiling {
			o.headerFault(contract.HeaderMaxRetries, s, ruleMaxRetries)
		} else {
			retries := int(n)
			o.MaxRetries = &retries
		}
	}
	for _, d := range []struct {
		name string
		into *retry.ISODuration
	}{{contract.HeaderBase, &o.Base}, {contract.HeaderMax, &o.Max}, {contract.HeaderDeadline, &o.Deadline}} {
		s, is := o.headers[d.name]
		if !is {
			continue
		}
		span, err := retry.ParseDuration(s)
		if err != nil || span < time.Millisecond {
			o.headerFault(d.name, s, ruleDuration)
			continue
		}
		*d.into, o.from[d.name] = retry.ISODuration(span), origin{retry.HeaderFault + " " + d.name, text.Messagef("%q", s)}
	}
}

func (o *overrides) fromVariables() {
	// Attempts count the first try as well (seed document 002), retries do not.
	if n, is := o.whole(contract.MaxAttempts, ruleMaxAttempts, 1, retry.RetriesCeiling+1); is {
		retries := int(n) - 1
		o.MaxRetries = &retries
	}
	if ms, is := o.whole(contract.RetryDelay, ruleMilliseconds, 1, maxMilliseconds); is {
		o.Base, o.from[contract.HeaderBase] = retry.ISODuration(ms*1e6), o.variable(contract.RetryDelay)
	}
	if ms, is := o.whole(contract.MaxRetryDelay, ruleMilliseconds, 1, maxMilliseconds); is {
		o.Max, o.from[contract.HeaderMax] = retry.ISODuration(ms*1e6), o.variable(contract.MaxRetryDelay)
	}
}

// maxMilliseconds is a year: what a policy's max may be.
const maxMilliseconds = int64(366 * 24 * time.Hour / time.Millisecond)

func (o *overrides) variable(name string) origin { return origin{name, o.get(name).describe()} }
