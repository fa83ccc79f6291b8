package worker

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/spelling"
)

// The task headers with which a service task picks its policy and changes numbers of it.
const (
	headerPolicy     = "retryPolicy"
	headerMaxRetries = "maxRetries"
	headerBase       = "base"
	headerMax        = "max"
	headerDeadline   = "deadline"
)

// The variables with which a job changes numbers of a policy that allows it (seed document 002).
const (
	varMaxAttempts   = "max_attempts"
	varRetryDelay    = "retry_delay"
	varMaxRetryDelay = "max_retry_delay"
)

const (
	ruleMaxRetries   = "a whole number from 0 to 1000"
	ruleMaxAttempts  = "a whole number from 1 to 1001, or absent"
	ruleMilliseconds = "whole milliseconds, 1 or more, or absent"
	ruleDuration     = "a duration of more than 0, such as 500ms, 90s, 5m, 24h or PT5M"
)

// policyFor is the policy of a job: the one that its task names, or else the job type's own, with what task and job
// override. What is wrong is noted as a fault; it then returns the policy without overrides, so that the other variables
// can be looked at as well. settled is false where another set of policies could help.
func (d *decoder) policyFor(j *job.Job, known *policy.Set, name string) (chosen *retry.Policy, settled bool) {
	fallback, _ := known.Get(name)
	if plain := j.Headers == "" || j.Headers == "{}"; plain && !fallback.JobOverrides {
		return fallback, true
	}
	headers, settled := d.headers(j)
	if named, is := headers[headerPolicy]; is {
		other, is := known.Get(named)
		if !is {
			d.headerFault(headerPolicy, named, "the name of a policy: "+strings.Join(known.Names(), ", "))
			return fallback, false
		}
		fallback = other
	}
	o := overrides{decoder: d, headers: headers, from: map[string]origin{}}
	o.fromHeaders()
	if fallback.JobOverrides {
		o.fromVariables()
	}
	chosen, err := fallback.With(o.Overrides)
	if err != nil {
		o.misfits(fallback.Name, err)
		return fallback, false
	}
	return chosen, settled && !d.faultyHeader
}

// headers are the task headers; ok is false where they cannot be read.
func (d *decoder) headers(j *job.Job) (headers map[string]string, ok bool) {
	if j.Headers == "" {
		return nil, true
	}
	if err := json.Unmarshal([]byte(j.Headers), &headers); err != nil {
		d.headerFault("", j.Headers, "texts")
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		for _, ours := range []string{headerPolicy, headerMaxRetries, headerBase, headerMax, headerDeadline} {
			// A setting that is misspelt must not be a silent default.
			if name != ours && meant(strings.Map(lettersOnly, name), ours) {
				d.headerFault(name, headers[name], "named "+ours)
			}
		}
	}
	return headers, true
}

// meant reports whether a header that is not one of ours was meant to be it. Of a name that nobody else has by chance one
// slip is enough; a headline may be what somebody else reads, and no deadline.
func meant(name, ours string) bool {
	unmistakable := ours == headerPolicy || ours == headerMaxRetries
	return strings.EqualFold(name, ours) || unmistakable && spelling.OneSlip(name, ours)
}

func lettersOnly(c rune) rune {
	if c == '-' || c == '_' || c == '.' || c == ' ' {
		return -1
	}
	return c
}

// maxShownHeader is how much of a header is shown. It is a text of the model, not of a patient.
const maxShownHeader = 60

func (d *decoder) headerFault(name, value, rule string) {
	d.faultyHeader = true
	d.fault(strings.TrimSpace(retry.HeaderFault+" "+name), strconv.Quote(cutTo(value, maxShownHeader)), rule)
}

// overrides collects what task and job change of a policy.
type overrides struct {
	retry.Overrides
	*decoder
	headers map[string]string
	// from says where a setting of the policy comes from, for a fault that only shows when all is put together.
	from map[string]origin
}

// origin is a header or a variable, and what it holds.
type origin struct{ name, value string }

// misfits notes the overrides that the policy refuses once they are put together.
func (o *overrides) misfits(policyName string, err error) {
	joined, _ := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	for _, one := range joined.Unwrap() {
		wrong, _ := errors.AsType[*retry.SettingError](one)
		if from := o.from[wrong.Setting]; !o.reported(from.name) {
			o.fault(from.name, from.value, "one that policy "+policyName+" can have: "+wrong.Error())
		}
	}
}

func (o *overrides) fromHeaders() {
	if text, is := o.headers[headerMaxRetries]; is {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n > retry.RetriesCeiling {
			o.headerFault(headerMaxRetries, text, ruleMaxRetries)
		} else {
			retries := int(n)
			o.MaxRetries = &retries
		}
	}
	for name, into := range o.durations() {
		text, is := o.headers[name]
		if !is {
			continue
		}
		span, err := policy.ParseDuration(text)
		if err != nil || span < time.Millisecond {
			o.headerFault(name, text, ruleDuration)
			continue
		}
		*into, o.from[name] = span, origin{retry.HeaderFault + " " + name, strconv.Quote(text)}
	}
}

// durations are the fields that headers can set, in a fixed order.
func (o *overrides) durations() func(yield func(string, *time.Duration) bool) {
	return func(yield func(string, *time.Duration) bool) {
		_ = yield(headerBase, &o.Base) && yield(headerMax, &o.Max) && yield(headerDeadline, &o.Deadline)
	}
}

func (o *overrides) fromVariables() {
	// Attempts count the first try as well (seed document 002), retries do not.
	if n, is := o.whole(varMaxAttempts, ruleMaxAttempts, retry.RetriesCeiling+1); is {
		retries := int(n) - 1
		o.MaxRetries = &retries
	}
	if ms, is := o.whole(varRetryDelay, ruleMilliseconds, maxMilliseconds); is {
		o.Base, o.from[headerBase] = time.Duration(ms)*time.Millisecond, o.variable(varRetryDelay)
	}
	if ms, is := o.whole(varMaxRetryDelay, ruleMilliseconds, maxMilliseconds); is {
		o.Max, o.from[headerMax] = time.Duration(ms)*time.Millisecond, o.variable(varMaxRetryDelay)
	}
}

// maxMilliseconds is a year: what a policy's max may be.
const maxMilliseconds = int64(366 * 24 * time.Hour / time.Millisecond)

func (o *overrides) variable(name string) origin { return origin{name, describe(o.raw.get(name))} }

// whole reads a whole number from 1 up.
func (d *decoder) whole(variable, rule string, most int64) (n int64, is bool) {
	if d.absent(variable) {
		return 0, false
	}
	value := d.raw.get(variable)
	number, err := strconv.ParseFloat(value, 64)
	if err != nil || number < 1 || number > float64(most) || number != math.Trunc(number) {
		d.fault(variable, describe(value), rule)
		return 0, false
	}
	return int64(number), true
}
