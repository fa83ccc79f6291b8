package audit

import (
	"encoding/binary"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/retry"
)

// Standing is where a claim stands. It is a label of metrics and stands in JSON: the names are never changed.
type Standing string

// The standings of claims that failed and have not ended, then those of claims that ended.
const (
	// Waiting is a retry whose time has not come, Overdue one whose time has come without news.
	Waiting Standing = "waiting"
	Overdue Standing = "overdue"
	// Stopped is a BPMN error that was thrown; DeadLetter is one of a model that keeps such claims as dead
	// letters.
	Stopped    Standing = "stopped"
	DeadLetter Standing = "dead-letter"
	// Incident is an input that was rejected.
	Incident Standing = "incident"
	// Redriven is a claim that a person had sent again, without news since.
	Redriven Standing = "redriven"
	// Submitted is a claim that the insurer accepted, Abandoned one that was given up.
	Submitted Standing = "submitted"
	Abandoned Standing = "abandoned"
)

// WithDeadLetters is [Record.HeldBy] where the model keeps a stopped claim among the dead letters.
const WithDeadLetters = "dead-letter"

// State is what the trail knows of a claim that has not ended. Its zero value is a claim of which nothing is
// known. Its JSON form is what lists show of it, by the names of [Record].
type State struct {
	// Opened is when the claim had its first record since its last end. FirstFailure is when the first
	// decision of the present round was taken, zero where there was none: a resubmission begins a round.
	Opened       time.Time `json:"opened,omitzero"`
	FirstFailure time.Time `json:"-"`
	// Earlier is how many seconds before it was opened the claim was submitted, 0 where its task did not say.
	Earlier int64 `json:"-"`
	// Failures is how many jobs of the round have a decision, Retries how many of them got a retry. A job
	// counts once, however often its inputs were corrected. Attempts is how many failed in the rounds before.
	Failures int `json:"-"`
	Retries  int `json:"-"`
	Attempts int `json:"-"`
	// Instances are the process instances of the round that were heard of last, at most maxInstances, the
	// latest last.
	Instances []Instance `json:"-"`
	// Dropped is the most retries of an instance that has no place in Instances any more: one that is not
	// named there counts as having had so many. Without it instances that take turns and lose their count
	// would be retried for ever.
	Dropped int `json:"-"`
	// Policy, Class, Rule, Code and RetryCount are of the last decision, MaxRetries is how many retries it
	// allows; but for Policy all are of the present round.
	Policy     string      `json:"policy,omitempty"`
	Class      retry.Class `json:"errorClassification,omitempty"`
	Rule       string      `json:"ruleId,omitempty"`
	Code       string      `json:"matchedCode,omitempty"`
	MaxRetries int         `json:"maxRetries,omitempty"`
	// Kind is that of the last record that shows how the claim stands. At, NextRetryTime, ProcessInstanceKey,
	// HeldBy and DecidedBy are that record's; NextRetryTime is zero unless the claim has a time at which it
	// is due.
	Kind               Kind      `json:"kind,omitempty"`
	At                 time.Time `json:"-"`
	NextRetryTime      time.Time `json:"nextRetryTime,omitzero"`
	RetryCount         int       `json:"retryCount"`
	ProcessInstanceKey int64     `json:"processInstanceKey,omitempty,string"`
	HeldBy             string    `json:"with,omitempty"`
	DecidedBy          string    `json:"decidedBy,omitempty"`
	// Message is that of an incident.
	Message string `json:"message,omitempty"`
	// Flags are those of the claim's course since it was opened, but CourseByPerson also of a resubmission.
	Flags CourseFlags `json:"-"`
	// Tip is the ID of the last record: the next one names it as Prev.
	Tip int64 `json:"-"`
}

// Instance is what is known of one process instance of a claim in the present round.
type Instance struct {
	Cluster string
	Key     int64
	// Job is the last one with a decision, Before how many other jobs got a retry since the instance was last
	// stopped by one of them.
	Job    int64
	Before int
	flags  uint8
}

const (
	lastRetry uint8 = 1 << iota // the last decision about Job is a retry
	everRetry                   // one of them was
	everStop                    // one of them stopped it
)

const maxInstances = 4

// retried is how many retries the instance had since it was last stopped.
func (i *Instance) retried() int {
	switch {
	case i.flags&lastRetry == 0:
		return 0
	case i.flags&everStop != 0:
		return 1
	}
	return i.Before + 1
}

// IsZero reports whether nothing is known of the claim, or it has ended.
func (s *State) IsZero() bool { return s.Kind == 0 }

// Retried is how many other jobs of the job's instance got a retry in the present round since the instance
// was last stopped: the count that a process cannot lose (RN-BIL-005 V1).
func (s *State) Retried(job Key) int {
	for i := range s.Instances {
		in := &s.Instances[i]
		switch {
		case in.Key != job.ProcessInstanceKey || in.Cluster != job.Cluster:
		case in.Job == job.JobKey:
			return in.Before
		default:
			return in.retried()
		}
	}
	return s.Dropped
}

// Add returns the state after a further record of the claim. It is the only place that knows what a kind
// means for a claim. It is pure: what s holds is not changed.
func (s State) Add(r *Record) State {
	switch {
	case r.ClaimID == "":
		return s
	case r.Kind == KindDecisionRefused: // the claim stands as it stood, and an ended one stays so
		if !s.IsZero() {
			s.Tip = r.ID
		}
		return s
	case r.Kind.Ends():
		return State{}
	}
	if r.Kind == KindResubmitted {
		s = State{
			Opened: s.Opened, Earlier: s.Earlier, Policy: s.Policy,
			Flags: s.Flags | CourseByPerson, Attempts: s.Attempts + s.Failures,
		}
	}
	if s.Opened.IsZero() {
		s.Opened, s.Earlier = r.At, r.sinceSubmission()
	}
	s.Tip, s.Kind, s.At, s.NextRetryTime = r.ID, r.Kind, r.At, r.NextRetryTime
	s.ProcessInstanceKey, s.HeldBy, s.DecidedBy = r.ProcessInstanceKey, r.HeldBy, r.DecidedBy
	s.Message = ""
	switch {
	case r.Kind.IsDecision():
		return s.decided(r)
	case r.Kind == KindRedriven:
		s.Flags |= CourseByPerson | CourseFailed
	case r.Kind == KindRejected:
		s.Message = r.Message
		if r.Policy != "" { // of a decision: an end that could not be recorded is no failure of the claim
			s.Flags |= CourseFailed
		}
	}
	return s
}

// decided adds a decision.
func (s State) decided(r *Record) State {
	s.Policy, s.Class, s.Rule, s.Code = r.Policy, r.Class, r.Rule, r.Code
	s.RetryCount, s.MaxRetries = r.RetryCount, r.MaxRetries
	s.Flags |= CourseFailed | CourseDecided
	if r.Kind != KindPermanent {
		s.Flags |= CourseRetried
	}
	if r.Kind == KindExhausted {
		s.Flags |= CourseExhausted
	}
	if s.FirstFailure.IsZero() {
		s.FirstFailure = r.At
	}
	in := Instance{Cluster: r.Cluster, Key: r.ProcessInstanceKey, Before: s.Dropped}
	others := make([]Instance, 0, maxInstances)
	for _, other := range s.Instances {
		if other.Key == in.Key && other.Cluster == in.Cluster {
			in = other
		} else {
			others = append(others, other)
		}
	}
	if in.Job != r.JobKey || in.flags == 0 {
		s.Failures++
		if in.flags != 0 {
			in.Before = in.retried()
		}
		in.Job, in.flags = r.JobKey, 0
	}
	if r.Kind == KindRetry {
		if in.flags&everRetry == 0 {
			s.Retries++
		}
		in.flags |= lastRetry | everRetry
	} else {
		in.flags = in.flags&^lastRetry | everStop
	}
	if len(others) == maxInstances {
		s.Dropped = max(s.Dropped, others[0].retried())
		others = slices.Delete(others, 0, 1)
	}
	s.Instances = append(others, in)
	return s
}

// Standing returns where an open claim stands at the time now.
func (s *State) Standing(now time.Time) Standing {
	switch s.Kind {
	case KindExhausted, KindPermanent:
		if s.HeldBy == WithDeadLetters {
			return DeadLetter
		}
		return Stopped
	case KindRejected:
		return Incident
	case KindRedriven, KindResubmitted:
		if s.NextRetryTime.IsZero() {
			return Redriven
		}
	case KindRetry, KindDecisionRefused, KindSubmitted, KindAbandoned:
		// The last three are never the Kind of a state.
	}
	if now.Before(s.NextRetryTime) {
		return Waiting
	}
	return Overdue
}

// CourseFlags say what happened to a claim from its opening on.
type CourseFlags uint8

// The flags of a course. They are stored and never change.
const (
	CourseFailed    CourseFlags = 1 << iota // it was not accepted at once
	CourseDecided                           // a policy decided about it
	CourseRetried                           // it had a retry, or had used them up
	CourseExhausted                         // it had used up its retries
	CourseByPerson                          // a person had it sent again
)

// Has reports whether one of the flags is set.
func (f CourseFlags) Has(one CourseFlags) bool { return f&one != 0 }

// Course is how a claim went until it ended.
type Course struct {
	// Attempts is how often it was submitted, Seconds how long it took from its first submission, or where
	// that is not known from its opening, to its end, 0 where it never failed.
	Attempts int         `json:"attempts"`
	Seconds  int64       `json:"seconds"`
	Flags    CourseFlags `json:"flags"`
}

// course returns the course of a claim in this state that the record ends, and the zero course for other
// records.
func (s *State) course(r *Record) Course {
	if !r.Kind.Ends() {
		return Course{}
	}
	c := Course{Attempts: s.Attempts + s.Failures, Flags: s.Flags}
	if r.Kind == KindSubmitted {
		c.Attempts++ // the one that was accepted
	}
	// The clocks of two replicas may differ: an end is never before the failure.
	if !s.IsZero() && s.Flags.Has(CourseFailed) {
		c.Seconds = s.Earlier + int64(max(r.At.Sub(s.Opened), 0)/time.Second)
	}
	return c
}

// stateVersion is that of the bytes of a state.
const stateVersion = 2

// fields names all that is stored of a state, for writing and for reading.
func (s *State) fields(c *codec) {
	for _, t := range []*time.Time{&s.Opened, &s.FirstFailure, &s.At, &s.NextRetryTime} {
		c.time(t)
	}
	for _, n := range []*int64{&s.Earlier, &s.Tip, &s.ProcessInstanceKey} {
		number(c, n)
	}
	number(c, &s.Flags)
	number(c, &s.Kind)
	for _, n := range []*int{&s.Failures, &s.Retries, &s.Attempts, &s.Dropped, &s.RetryCount, &s.MaxRetries} {
		number(c, n)
	}
	text(c, &s.Policy)
	text(c, &s.Class)
	for _, t := range []*string{&s.Rule, &s.Code, &s.HeldBy, &s.DecidedBy, &s.Message} {
		text(c, t)
	}
	n := len(s.Instances)
	number(c, &n)
	if c.reading && n > 0 && n <= maxInstances {
		s.Instances = make([]Instance, n)
	}
	for i := range s.Instances {
		in := &s.Instances[i]
		text(c, &in.Cluster)
		number(c, &in.Key)
		number(c, &in.Job)
		number(c, &in.Before)
		number(c, &in.flags)
	}
}

// bytes returns the state as it is stored.
func (s *State) bytes() []byte {
	c := codec{b: append(make([]byte, 0, 192), stateVersion)}
	s.fields(&c)
	return c.b
}

// readState is the inverse of bytes.
func readState(b []byte) (s State, ok bool) {
	if len(b) == 0 || b[0] != stateVersion {
		return State{}, false
	}
	c := codec{b: b[1:], reading: true}
	s.fields(&c)
	return s, !c.bad && len(c.b) == 0
}

// codec writes values to the end of b, or reads them from its front. One list of fields serves for both.
type codec struct {
	b       []byte
	reading bool
	bad     bool // what was read is too short
}

func number[T ~int | ~int64 | ~uint8](c *codec, n *T) {
	if !c.reading {
		c.b = binary.AppendVarint(c.b, int64(*n))
		return
	}
	v, size := binary.Varint(c.b)
	if size <= 0 {
		c.b, c.bad = nil, true
		return
	}
	*n, c.b = T(v), c.b[size:] // what was written fits, and what was changed fails its check
}

func (c *codec) time(t *time.Time) {
	micros := Micros(*t)
	number(c, &micros)
	*t = Time(micros)
}

func text[T ~string](c *codec, s *T) {
	n := len(*s)
	number(c, &n)
	switch {
	case !c.reading:
		c.b = append(c.b, *s...)
	case n < 0 || n > len(c.b):
		c.b, c.bad = nil, true
	default:
		*s, c.b = T(c.b[:n]), c.b[n:]
	}
}
