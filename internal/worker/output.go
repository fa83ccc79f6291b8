package worker

import (
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
)

// output is how the jobs of a job type are answered.
type output struct {
	// encode words a decision as the process variables that are stored and sent.
	encode func(d *retry.Decision) string
	// detail adds to a record's detail what encode leaves out.
	detail func(detail string, d *retry.Decision) string
	// echo puts into stored variables what is not stored.
	echo func(stored string, r *retry.Request) string
	// scheduled is the log's event of a retry.
	scheduled string
}

func outputOf(jobType string) output {
	if jobType == BackoffJobType {
		return output{
			encode:    encodeBackoff,
			detail:    withExplanation,
			echo:      func(stored string, _ *retry.Request) string { return stored },
			scheduled: "submission_retry_scheduled", // RN-BIL-004 section 13.4
		}
	}
	return output{
		encode:    encode,
		detail:    func(detail string, _ *retry.Decision) string { return detail },
		echo:      withOriginalError,
		scheduled: "retry_scheduled",
	}
}

// encode words a decision as process variables: the agreed names of RN-BIL-005 section 3.2, and everything else in the
// one object `retryDecision`, so that the agreed names stay as they are. The eighth name, originalError, is not among
// them: these are the bytes that are stored, and the insurer's text is not (see [withOriginalError]).
//
// It is written out by hand because it runs for every job, and because names and order are the contract.
func encode(d *retry.Decision) string {
	b := make([]byte, 0, 640)
	b = append(b, `{"shouldRetry":`...)
	b = strconv.AppendBool(b, d.Outcome == retry.OutcomeRetry)
	b = append(b, `,"retryCount":`...)
	b = strconv.AppendInt(b, int64(d.RetryCount), 10)
	b = append(b, `,"maxRetries":`...)
	b = strconv.AppendInt(b, int64(d.MaxRetries), 10)
	b = append(b, `,"backoffMinutes":`...)
	b = strconv.AppendInt(b, int64(d.BackoffMinutes()), 10)
	b = append(b, `,"nextRetryTime":`...)
	b = appendNextRetryTime(b, d)
	b = append(b, `,"retryReason":`...)
	b = appendString(b, d.Reason())
	b = append(b, `,"errorClassification":`...)
	b = appendString(b, string(d.Error.Class))
	b = append(b, `,"retryDecision":`...)
	b = appendExplanation(b, d)
	return string(append(b, '}'))
}

// encodeBackoff words a decision as RN-BIL-004 section 3.2 has it: five names and nothing else.
func encodeBackoff(d *retry.Decision) string {
	reason := d.Reason()
	if d.Outcome == retry.OutcomeRetry {
		reason = "Retry " + strconv.Itoa(d.RetryCount) + " of " + strconv.Itoa(d.MaxRetries)
	}
	b := make([]byte, 0, 160)
	b = append(b, `{"shouldRetry":`...)
	b = strconv.AppendBool(b, d.Outcome == retry.OutcomeRetry)
	b = append(b, `,"nextRetryTime":`...)
	b = appendNextRetryTime(b, d)
	b = append(b, `,"retryCount":`...)
	b = strconv.AppendInt(b, int64(d.RetryCount), 10)
	b = append(b, `,"retryReason":`...)
	b = appendString(b, reason)
	b = append(b, `,"backoffMinutes":`...)
	b = strconv.AppendInt(b, int64(d.BackoffMinutes()), 10)
	return string(append(b, '}'))
}

// withExplanation keeps in the detail what [encodeBackoff] leaves out, by the names of [encode]: the audit trail tells as
// much of either job type.
func withExplanation(detail string, d *retry.Decision) string {
	b := append(make([]byte, 0, 1024), strings.TrimSuffix(detail, "}")...)
	b = append(b, `,"maxRetries":`...)
	b = strconv.AppendInt(b, int64(d.MaxRetries), 10)
	b = append(b, `,"errorClassification":`...)
	b = appendString(b, string(d.Error.Class))
	b = append(b, `,"retryDecision":`...)
	b = appendExplanation(b, d)
	return string(append(b, '}'))
}

func appendNextRetryTime(b []byte, d *retry.Decision) []byte {
	if d.NextRetryTime.IsZero() {
		return append(b, `null`...)
	}
	return appendTime(b, d.NextRetryTime)
}

// withOriginalError puts the error text, as the job brought it, behind the stored variables: it echoes what the process
// holds already (RN-BIL-005 section 3.2).
func withOriginalError(stored string, r *retry.Request) string {
	b := make([]byte, 0, 1024)
	b = append(b, strings.TrimSuffix(stored, "}")...)
	b = append(b, `,"originalError":`...)
	b = appendString(b, cut(r.SubmissionError))
	return string(append(b, '}'))
}

// Explain is the object `retryDecision` of a decision, in JSON, as the process gets it.
func Explain(d *retry.Decision) string { return string(appendExplanation(nil, d)) }

// appendExplanation writes the object `retryDecision`. What is not known, or did not happen, is left out.
func appendExplanation(b []byte, d *retry.Decision) []byte {
	b = append(b, `{"policy":`...)
	b = appendString(b, d.Policy)
	b = append(b, `,"policyVersion":`...)
	b = appendString(b, d.PolicyVersion)
	b = append(b, `,"ruleId":`...)
	b = appendString(b, d.Error.RuleID)
	b = append(b, `,"matchedCode":`...)
	b = appendString(b, d.Error.Code)
	b = append(b, `,"reason":`...)
	b = appendString(b, string(d.Step))
	b = append(b, `,"delayBeforeJitter":`...)
	b = appendDuration(b, d.Delay)
	b = append(b, `,"backoffDuration":`...)
	b = appendDuration(b, d.Backoff)
	b = appendBounds(b, d.Bounds)
	b = append(b, `,"retriesLeft":`...)
	b = strconv.AppendInt(b, int64(d.RetriesLeft()), 10)
	b = appendHint(b, d.Hint)
	if !d.Deadline.IsZero() {
		b = append(b, `,"deadline":`...)
		b = appendTime(b, d.Deadline)
	}
	if d.Advice != "" {
		b = append(b, `,"advice":`...)
		b = appendString(b, string(d.Advice))
	}
	if d.SinceLastSubmission != 0 {
		b = append(b, `,"secondsSinceLastSubmission":`...)
		b = strconv.AppendInt(b, int64(d.SinceLastSubmission/time.Second), 10)
	}
	return append(appendIgnored(appendOverrides(b, d.Overrides), d.Ignored), '}')
}

func appendBounds(b []byte, bounds retry.Bounds) []byte {
	for i, name := range bounds.Names() {
		if i == 0 {
			b = append(b, `,"bounds":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendString(b, name)
	}
	if bounds != 0 {
		b = append(b, ']')
	}
	return b
}

func appendHint(b []byte, h retry.Hint) []byte {
	if h == (retry.Hint{}) {
		return b
	}
	b = append(b, `,"hint":{"source":`...)
	b = appendString(b, string(h.Source))
	if h.Until.IsZero() {
		b = append(b, `,"after":`...)
		b = appendDuration(b, h.After)
	} else {
		b = append(b, `,"until":`...)
		b = appendTime(b, h.Until.UTC().Truncate(time.Second))
	}
	return append(b, '}')
}

func appendOverrides(b []byte, o retry.Overrides) []byte {
	if o.None() {
		return b
	}
	b = append(b, `,"overrides":{`...)
	start := len(b)
	name := func(name string) {
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
	}
	if o.MaxRetries != nil {
		name("maxRetries")
		b = strconv.AppendInt(b, int64(*o.MaxRetries), 10)
	}
	for _, span := range []struct {
		name string
		d    time.Duration
	}{{"base", o.Base}, {"max", o.Max}, {"deadline", o.Deadline}} {
		if span.d != 0 {
			name(span.name)
			b = appendDuration(b, span.d)
		}
	}
	return append(b, '}')
}

func appendIgnored(b []byte, ignored retry.Ignored) []byte {
	if ignored == (retry.Ignored{}) {
		return b
	}
	b = append(b, `,"ignored":`...)
	separator := byte('[')
	for variable, reason := range ignored.All() {
		b = append(b, separator)
		b = append(b, `{"variable":`...)
		b = appendString(b, variable)
		b = append(b, `,"reason":`...)
		b = append(appendString(b, string(reason)), '}')
		separator = ','
	}
	return append(b, ']')
}

// appendDuration writes an ISO 8601 duration that a timer event can use as it is.
func appendDuration(b []byte, d time.Duration) []byte {
	b = append(b, '"')
	b = retry.AppendISODuration(b, d)
	return append(b, '"')
}

func appendTime(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.AppendFormat(b, time.RFC3339)
	return append(b, '"')
}
