package tracing

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
)

// Handler returns a handler that makes a span for each job of one type before next gets it. [Tracer.Answered] ends the span.
func (t *Tracer) Handler(jobType string, next job.Handler) job.Handler {
	return &handler{tracer: t, jobType: jobType, next: next}
}

type handler struct {
	tracer  *Tracer
	jobType string
	next    job.Handler
}

// Handle starts the spans of the jobs and calls the next handler.
func (h *handler) Handle(ctx context.Context, jobs []job.Job) []job.Answer {
	for i := range jobs {
		h.tracer.begin(ctx, h.jobType, &jobs[i])
	}
	return h.next.Handle(ctx, jobs)
}

// begin starts the span of a job, unless the job has one: a batch that failed is handled again, job by job.
func (t *Tracer) begin(ctx context.Context, jobType string, j *job.Job) {
	passed := passedBy(j)
	if t.tracer == nil && !passed.IsValid() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, again := t.jobs[j.Key]; again {
		return
	}
	var one traced
	if t.tracer != nil {
		one.span = t.start(ctx, jobType, j, passed)
		if own := one.span.SpanContext(); own.IsSampled() {
			passed = own
		}
	}
	one.traceparent = traceparent(passed)
	t.jobs[j.Key] = one
}

// start starts a span by OpenTelemetry's conventions for messaging. It is the root of a trace of its own, with a link to the
// one that the model passed, because a process may run for weeks and traces are found by their time.
func (t *Tracer) start(ctx context.Context, jobType string, j *job.Job, passed trace.SpanContext) trace.Span {
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(
			semconv.MessagingSystemKey.String("zeebe"),
			semconv.MessagingOperationTypeProcess,
			semconv.MessagingOperationName("process"),
			semconv.MessagingDestinationName(jobType),
			semconv.MessagingClientID(t.worker),
			// Texts: what shows spans is JavaScript, which does not read such numbers exactly.
			semconv.MessagingMessageID(strconv.FormatInt(j.Key, 10)),
			semconv.MessagingMessageConversationID(strconv.FormatInt(j.ProcessInstanceKey, 10)),
			attribute.String("zeebe.process.id", j.ProcessID),
			attribute.String("zeebe.element.id", j.ElementID),
			attribute.Int("zeebe.job.retries", int(j.Retries)),
		),
	}
	if passed.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: passed}))
	}
	if !j.Received.IsZero() {
		options = append(options, trace.WithTimestamp(j.Received))
	}
	_, span := t.tracer.Start(ctx, "process "+jobType, options...)
	return span
}

// passedBy returns the trace that the model passed with a job, not valid where there is none. Another content of the variable
// is no fault, because the model may use the name for something else.
func passedBy(j *job.Job) trace.SpanContext {
	if !strings.Contains(j.Variables, `"traceparent"`) {
		return trace.SpanContext{}
	}
	var v struct {
		Traceparent string `json:"traceparent"`
	}
	_ = json.Unmarshal([]byte(j.Variables), &v) // it stays empty where it is no text
	carrier := propagation.MapCarrier{"traceparent": v.Traceparent}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
}

// traceparent returns a trace context in the form of W3C, empty where it is not valid.
func traceparent(c trace.SpanContext) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), c), carrier)
	return carrier["traceparent"]
}

// Recorder records what is decided about jobs, with their traces.
type Recorder struct {
	*audit.Recorder
	tracer *Tracer
}

// Recorder makes a recorder that stands before the one given.
func (t *Tracer) Recorder(next *audit.Recorder) Recorder { return Recorder{next, t} }

// Record has the records stored, each with its trace, and tells each span what was stored; see [audit.Recorder.Record].
func (r Recorder) Record(ctx context.Context, records []audit.Record) ([]audit.Appended, error) {
	for i := range records {
		if one, is := r.tracer.of(records[i].JobKey); is && one.traceparent != "" {
			records[i].Detail = contract.WithTraceparent(records[i].Detail, one.traceparent)
		}
	}
	stored, err := r.Recorder.Record(ctx, records)
	if err != nil || r.tracer.tracer == nil {
		return stored, err
	}
	for i := range stored {
		if one, is := r.tracer.of(records[i].JobKey); is && one.span.IsRecording() {
			describe(one.span, &stored[i])
		}
	}
	return stored, nil
}

func (t *Tracer) of(jobKey int64) (traced, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, is := t.jobs[jobKey]
	return one, is
}

// describe adds to a span what was decided: codes, counts and names of policies, nothing of a claim.
func describe(span trace.Span, stored *audit.Appended) {
	record := &stored.Record
	if record.ID == 0 {
		return // the store has refused it
	}
	span.SetAttributes(attribute.String("retry.decision", record.Kind.String()), attribute.Bool("retry.repeated", stored.Repeated))
	facts, err := record.Facts()
	switch {
	case err != nil: // the recorder and the check of the trail report it
	case record.Kind.IsDecision():
		span.SetAttributes(
			attribute.String("retry.classification", string(facts.ErrorClassification)),
			attribute.Int("retry.attempt", facts.RetryCount),
			attribute.Int("retry.max", facts.MaxRetries),
			attribute.Int("retry.backoff_minutes", facts.BackoffMinutes),
			attribute.String("retry.policy", facts.RetryDecision.Policy),
			attribute.String("retry.policy_version", facts.RetryDecision.PolicyVersion),
			attribute.String("retry.rule_id", facts.RetryDecision.RuleID),
			attribute.String("retry.settled_by", string(facts.RetryDecision.Reason)),
		)
	case record.Kind.IsOutcome():
		span.SetAttributes(attribute.Int("retry.attempt", record.RetryCount), attribute.Int("retry.submissions", facts.Attempts))
	}
}

// Answered ends the span of a job that was answered.
func (t *Tracer) Answered(jobKey int64, answer job.Answer, result job.Result) {
	t.mu.Lock()
	one, is := t.jobs[jobKey]
	delete(t.jobs, jobKey)
	t.mu.Unlock()
	if !is || one.span == nil {
		return
	}
	one.span.SetAttributes(attribute.String("retry.answer", answer.Kind().String()), attribute.String("retry.result", result.String()))
	switch {
	case answer.Kind() == job.KindRelease:
		end(one.span, "released", answer.Message())
	case answer.Kind() == job.KindFail && answer.Retries() == 0:
		end(one.span, "incident", answer.Message())
	case answer.Kind() == job.KindFail:
		end(one.span, "failed", answer.Message())
	default:
		one.span.End()
	}
}

// end ends the span of a job that was not worked, with the text that the broker gets, which has neither values of variables
// nor the insurer's text.
func end(span trace.Span, kind, text string) {
	span.SetAttributes(semconv.ErrorTypeKey.String(kind))
	span.SetStatus(codes.Error, strings.ToValidUTF8(text, "\uFFFD"))
	span.End()
}
