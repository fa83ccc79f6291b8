// Package tracing makes a span of OpenTelemetry for each job, and adds the trace to the job's record and event.
//
// It is off unless the standard variables of OpenTelemetry name a collector. A `traceparent` that the process model passes
// reaches the events also while it is off. It wraps the worker's handlers and its recorder, which know nothing of it.
package tracing

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
)

// FetchVariables returns the process variable that is read, in addition to the handlers' own. No decision depends on it.
func FetchVariables() []string { return []string{"traceparent"} }

// Options are what a [Tracer] needs.
type Options struct {
	// Worker is the worker's name, Version that of its build.
	Worker, Version string
	// Environment holds the variables of the process, which OpenTelemetry's SDK reads by itself.
	Environment map[string]string
	Logger      *zap.Logger
}

// Tracer makes the spans of jobs. It is made by [New] and safe for use by several goroutines.
type Tracer struct {
	worker string
	log    *zap.Logger
	// tracer, provider and exporter are nil where tracing is off.
	tracer   trace.Tracer
	provider *sdktrace.TracerProvider
	exporter *exporter

	mu   sync.Mutex
	jobs map[int64]traced
}

// traced is an active job that has a span, or at least belongs to a trace.
type traced struct {
	span trace.Span // nil where tracing is off
	// traceparent is that of the record and the event, empty where there is none.
	traceparent string
}

// scope is the name of the instrumentation.
const scope = "hospital.example/analyze-retry"

// New makes a tracer by OpenTelemetry's own variables. It connects to no collector yet. Its error has all that is wrong with
// them, one fault a line, each with the name of the variable.
func New(ctx context.Context, o Options) (*Tracer, error) {
	t := &Tracer{worker: strings.ToValidUTF8(o.Worker, "\uFFFD"), log: o.Logger, jobs: map[int64]traced{}}
	env := environment(o.Environment)
	on, err := env.on()
	if err != nil {
		return nil, err
	}
	if !on {
		return t, nil
	}
	if err := env.faults(); err != nil {
		return nil, err
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("analyze-retry"), semconv.ServiceVersion(o.Version), semconv.ServiceInstanceID(t.worker)),
		resource.WithTelemetrySDK(), resource.WithFromEnv()) // the last one wins
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	var sender sdktrace.SpanExporter
	if env.protocol() == "grpc" {
		sender, err = otlptracegrpc.New(ctx)
	} else {
		sender, err = otlptracehttp.New(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", env.named("ENDPOINT"), err)
	}
	t.exporter = &exporter{SpanExporter: sender, log: o.Logger, secrets: env.secrets()}
	t.provider = sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(t.exporter))
	t.tracer = t.provider.Tracer(scope, trace.WithInstrumentationVersion(o.Version))
	_, host, _ := strings.Cut(env.get(env.named("ENDPOINT")), "://")
	host, _, _ = strings.Cut(host, "/") // its path may hold a token
	o.Logger.Info("tracing_on", zap.String("collector", host), zap.String("protocol", env.protocol()))
	return t, nil
}

// flushTimeout is how long a stop lets spans reach the collector.
const flushTimeout = time.Second

// Close ends the spans of jobs that are still active, and waits up to one second for the collector to take what was not sent
// yet. A collector that does not is logged and no error.
func (t *Tracer) Close() error {
	if t.provider == nil {
		return nil
	}
	t.mu.Lock()
	left := t.jobs
	t.jobs = map[int64]traced{}
	t.mu.Unlock()
	for _, job := range left {
		end(job.span, "unanswered", "the worker stopped before the job was answered")
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.Warn("traces_not_flushed", zap.String("error", t.exporter.masked(err)))
		cancel()
		_ = t.exporter.Shutdown(ctx) // with a context that has ended it cancels what is being sent
	}
	return nil
}

// reportEvery is the shortest time between two log lines about a collector that takes no spans.
const reportEvery = time.Minute

// exporter sends spans, and logs what goes wrong. The SDK would report it for every few hundred spans, to a global handler.
type exporter struct {
	sdktrace.SpanExporter
	log *zap.Logger
	// secrets are the values of the headers that are sent. A collector may repeat them in its answer.
	secrets []string

	mu       sync.Mutex
	reported time.Time
	lost     int // spans since then
}

// ExportSpans sends spans. It logs a failure and returns nil, so that the SDK does not report it as well.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.failed(len(spans), err)
	}
	return nil
}

func (e *exporter) failed(spans int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost += spans
	if time.Since(e.reported) < reportEvery {
		return
	}
	e.log.Warn("traces_not_taken", zap.Int("spans", e.lost), zap.String("error", e.masked(err)),
		zap.String("detail", "these spans are lost; jobs do not wait for the collector"))
	e.reported, e.lost = time.Now(), 0
}

// maxLogged is how much of an error is logged, in bytes: a proxy may answer with a page.
const maxLogged = 500

// masked returns the text of an error without secrets.
func (e *exporter) masked(err error) string {
	text := err.Error()
	for _, secret := range e.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return strings.ToValidUTF8(text[:min(len(text), maxLogged)], "")
}
