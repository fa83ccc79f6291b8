package events

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
)

const (
	// dataVersion is the "version" of RN-BIL-005 section 12.3, the version of the layout, as in the event's type. Decisions
	// and re-drives have versions of their own.
	dataVersion            = 2
	decisionVersion        = 3
	redrivenVersion        = 1
	decisionRefusedVersion = 1
	// critical is the severity of events that need a person.
	critical = "CRITICAL"
)

// about is the part that all events have: the claim, its job, and the position of the record in the audit trail.
type about struct {
	Version int    `json:"version"`
	ClaimID string `json:"claimId,omitempty"`
	// The keys are texts: they are larger than what JavaScript and its like read exactly as a number.
	JobKey             string   `json:"jobKey"`
	ProcessInstanceKey string   `json:"processInstanceKey"`
	ProcessID          string   `json:"processId,omitempty"`
	ElementID          string   `json:"elementId,omitempty"`
	Audit              position `json:"audit"`
}

type position struct {
	Chain int    `json:"chain"`
	Seq   int64  `json:"seq"`
	Hash  string `json:"hash"`
}

// decision is the part that all events of a decision have (RN-BIL-005 section VII).
type decision struct {
	RetryCount                 int                 `json:"retryCount"`
	MaxRetries                 int                 `json:"maxRetries"`
	CountFrom                  retry.CountFrom     `json:"countFrom,omitempty"`
	RetryReason                string              `json:"retryReason"`
	ErrorClassification        retry.Class         `json:"errorClassification"`
	Policy                     string              `json:"policy"`
	PolicyVersion              string              `json:"policyVersion"`
	RuleID                     string              `json:"ruleId"`
	MatchedCode                string              `json:"matchedCode,omitempty"`
	Reason                     retry.Step          `json:"reason,omitempty"`
	Hint                       *contract.Hint      `json:"hint,omitempty"`
	Deadline                   *time.Time          `json:"deadline,omitempty"`
	Advice                     retry.Advice        `json:"advice,omitempty"`
	Overrides                  *contract.Overrides `json:"overrides,omitempty"`
	Ignored                    []contract.Ignored  `json:"ignored,omitempty"`
	SecondsSinceLastSubmission int64               `json:"secondsSinceLastSubmission,omitempty"`
	ExecutionTimeMs            float64             `json:"executionTimeMs"`
	Steps                      *stepTimes          `json:"steps,omitempty"`
}

// stepTimes are the times of [contract.StepNames].
type stepTimes struct {
	ErrorReceived    time.Time `json:"errorReceived"`
	ErrorClassified  time.Time `json:"errorClassified"`
	CounterChecked   time.Time `json:"counterChecked"`
	BackoffComputed  time.Time `json:"backoffComputed"`
	DecisionTaken    time.Time `json:"decisionTaken"`
	NextTryScheduled time.Time `json:"nextTryScheduled"`
}

type scheduled struct {
	about
	decision
	SubmissionError   string    `json:"submissionError"`
	BackoffMinutes    int       `json:"backoffMinutes"`
	BackoffDuration   string    `json:"backoffDuration"`
	DelayBeforeJitter string    `json:"delayBeforeJitter"`
	Bounds            []string  `json:"bounds,omitempty"`
	RetriesLeft       int       `json:"retriesLeft"`
	NextRetryTime     time.Time `json:"nextRetryTime"`
	ScheduledAt       time.Time `json:"scheduledAt"`
}

type maxRetriesExceeded struct {
	about
	decision
	With          string    `json:"with,omitempty"`
	FinalError    string    `json:"finalError"`
	TotalAttempts int       `json:"totalAttempts"`
	TotalDuration string    `json:"totalDuration,omitempty"`
	ExceededAt    time.Time `json:"exceededAt"`
	Severity      string    `json:"severity"`
}

type permanentError struct {
	about
	decision
	With         string    `json:"with,omitempty"`
	ErrorType    string    `json:"errorType"`
	ErrorMessage string    `json:"errorMessage"`
	DetectedAt   time.Time `json:"detectedAt"`
	Severity     string    `json:"severity"`
}

type inputRejected struct {
	about
	Message         string     `json:"message"`
	ExecutionTimeMs float64    `json:"executionTimeMs"`
	Steps           *stepTimes `json:"steps,omitempty"`
	RejectedAt      time.Time  `json:"rejectedAt"`
}

type outcomeRecorded struct {
	about
	Outcome string `json:"outcome"`
	round
	order
	TotalDuration string    `json:"totalDuration,omitempty"`
	RecordedAt    time.Time `json:"recordedAt"`
}

type redriven struct {
	about
	round
	order
	RedriveWait string    `json:"redriveWait,omitempty"`
	RedrivenAt  time.Time `json:"redrivenAt"`
}

type decisionRefused struct {
	about
	round
	Problem       string    `json:"problem,omitempty"`
	Justification string    `json:"justification,omitempty"`
	DecidedBy     string    `json:"decidedBy,omitempty"`
	RefusedAt     time.Time `json:"refusedAt"`
}

// round is the state of a round of submissions.
type round struct {
	Attempts         int        `json:"attempts"`
	RetryCount       int        `json:"retryCount"`
	FirstFailureTime *time.Time `json:"firstFailureTime,omitempty"`
}

// order is why, and by whom, a claim was sent again or given up.
type order struct {
	Justification string `json:"justification,omitempty"`
	DecidedBy     string `json:"decidedBy,omitempty"`
	RedriveID     string `json:"redriveId,omitempty"`
}

type answerNotDelivered struct {
	about
	// UndeliveredHash and UndeliveredEventID name the record whose answer did not arrive, and its event.
	UndeliveredHash    string    `json:"undeliveredHash"`
	UndeliveredEventID string    `json:"undeliveredEventId"`
	NotedAt            time.Time `json:"notedAt"`
}

// dataOf returns the type of the record's event and its data. The type is empty if the kind of record has no event.
func dataOf(r *audit.Record, f *contract.Facts) (kind string, data any) {
	a := about{
		Version: dataVersion, ClaimID: r.ClaimID,
		JobKey: strconv.FormatInt(r.JobKey, 10), ProcessInstanceKey: strconv.FormatInt(r.ProcessInstanceKey, 10),
		ProcessID: f.ProcessID, ElementID: f.ElementID,
		Audit: position{Chain: r.Chain, Seq: r.Seq, Hash: r.Hash.String()},
	}
	if r.Kind.IsDecision() {
		a.Version = decisionVersion
	}
	switch r.Kind {
	case audit.KindRetry:
		return TypeScheduled, scheduled{
			about: a, decision: decisionOf(f), SubmissionError: f.SubmissionError,
			BackoffMinutes: f.BackoffMinutes, BackoffDuration: f.RetryDecision.BackoffDuration,
			DelayBeforeJitter: f.RetryDecision.DelayBeforeJitter, Bounds: f.RetryDecision.Bounds, RetriesLeft: f.RetryDecision.RetriesLeft,
			NextRetryTime: r.NextRetryTime, ScheduledAt: r.At,
		}
	case audit.KindExhausted:
		return TypeMaxRetriesExceeded, maxRetriesExceeded{
			about: a, decision: decisionOf(f), With: f.With, FinalError: f.SubmissionError,
			TotalAttempts: attempts(f), TotalDuration: since(f.FirstFailureTime, r.At),
			ExceededAt: r.At, Severity: critical,
		}
	case audit.KindPermanent:
		return TypePermanentError, permanentError{
			about: a, decision: decisionOf(f), With: f.With, ErrorType: cmp.Or(f.RetryDecision.MatchedCode, f.RetryDecision.RuleID), ErrorMessage: f.SubmissionError,
			DetectedAt: r.At, Severity: critical,
		}
	case audit.KindRejected:
		return TypeInputRejected, inputRejected{
			about: a, Message: r.Message, ExecutionTimeMs: f.ExecutionTimeMs, Steps: steps(f.Steps), RejectedAt: r.At,
		}
	case audit.KindUndelivered:
		return TypeAnswerNotDelivered, answerNotDelivered{
			about: a, UndeliveredHash: f.Undelivered, UndeliveredEventID: id(f.Undelivered), NotedAt: r.At,
		}
	case audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned:
		return TypeOutcomeRecorded, outcomeRecorded{
			about: a, round: roundOf(r, f), order: orderOf(f), Outcome: r.Kind.String(),
			TotalDuration: since(f.FirstFailureTime, r.At), RecordedAt: r.At,
		}
	case audit.KindRedriven:
		a.Version = redrivenVersion
		return TypeRedriven, redriven{about: a, round: roundOf(r, f), order: orderOf(f), RedriveWait: f.RedriveWait, RedrivenAt: r.At}
	case audit.KindDecisionRefused:
		a.Version = decisionRefusedVersion
		return TypeDecisionRefused, decisionRefused{
			about: a, round: roundOf(r, f), Problem: f.DecisionProblem, Justification: f.Justification, DecidedBy: f.DecidedBy, RefusedAt: r.At,
		}
	default:
		return "", nil
	}
}

func decisionOf(f *contract.Facts) decision {
	x := &f.RetryDecision
	return decision{
		RetryCount: f.RetryCount, MaxRetries: f.MaxRetries, CountFrom: x.CountFrom, RetryReason: f.RetryReason,
		ErrorClassification: f.ErrorClassification,
		Policy:              x.Policy, PolicyVersion: x.PolicyVersion, RuleID: x.RuleID, MatchedCode: x.MatchedCode,
		Reason: x.Reason, Hint: x.Hint, Deadline: x.Deadline, Advice: x.Advice, Overrides: x.Overrides, Ignored: x.Ignored,
		SecondsSinceLastSubmission: x.SecondsSinceLastSubmission,
		ExecutionTimeMs:            f.ExecutionTimeMs, Steps: steps(f.Steps),
	}
}

func roundOf(r *audit.Record, f *contract.Facts) round {
	return round{Attempts: f.Attempts, RetryCount: r.RetryCount, FirstFailureTime: f.FirstFailureTime}
}

func orderOf(f *contract.Facts) order { return order{f.Justification, f.DecidedBy, f.RedriveID} }

// attempts returns how often the claim was submitted: the recorded number, or one more than its retries.
func attempts(f *contract.Facts) int {
	if f.Attempts > 0 {
		return f.Attempts
	}
	return f.RetryCount + 1
}

// since returns the time since the first failure as an ISO 8601 duration in whole seconds, empty if that is not known. It is
// PT0S rather than negative if the clocks of two replicas differ.
func since(first *time.Time, at time.Time) string {
	if first == nil {
		return ""
	}
	return "PT" + strings.ToUpper(max(at.Sub(*first), 0).Truncate(time.Second).String())
}

func steps(s *contract.Steps) *stepTimes {
	if s == nil {
		return nil
	}
	t := s.Times()
	return &stepTimes{t[0], t[1], t[2], t[3], t[4], t[5]}
}
