// Package tracing shows each job as a span of OpenTelemetry, and carries the trace on to what comes of the job.
//
// It is off unless the standard variables of OpenTelemetry name a collector. Also then a `traceparent` that the process
// model passes reaches the events. It stands around the worker's handlers and its recorder, which know nothing of it.
package tracing

import (
	"context"
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

// FetchVariables is the process variable that is read, in addition to the handlers' own. No decision depends on it.
func FetchVariables() []string { return []string{"traceparent"} }

// Options are what a [Tracer] is told beside its environment. All are required.
type Options struct {
	// Worker is the worker's name, Version that of its build.
	Worker, Version string
	Logger          *zap.Logger
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

// traced is a job in hand that has a span, or at least belongs to a trace.
type traced struct {
	span trace.Span // nil where tracing is off
	// traceparent is what is carried on, empty where there is nothing.
	traceparent string
}

// scope is the name of the instrumentation.
const scope = "hospital.example/analyze-retry"

// New makes a tracer as the environment says, by the names that OpenTelemetry has agreed on. It connects to no collector
// yet. Its error tells all that is wrong there, one fault a line, each with the name of the variable.
func New(ctx context.Context, o Options) (*Tracer, error) {
	t := &Tracer{worker: strings.ToValidUTF8(o.Worker, "\uFFFD"), log: o.Logger, jobs: map[int64]traced{}}
	env, err := readEnvironment()
	if err != nil {
		return nil, err
	}
	if !env.on {
		return t, nil
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("analyze-retry"), semconv.ServiceVersion(o.Version), semconv.ServiceInstanceID(t.worker)),
		resource.WithTelemetrySDK(), resource.WithFromEnv()) // the last one wins
	if err != nil {
		return nil, fault("OTEL_RESOURCE_ATTRIBUTES", "%w", err)
	}
	var sender sdktrace.SpanExporter
	if env.grpc {
		sender, err = otlptracegrpc.New(ctx)
	} else {
		sender, err = otlptracehttp.New(ctx)
	}
	if err != nil {
		return nil, fault(env.endpointName, "%w", err)
	}
	t.exporter = &exporter{SpanExporter: sender, log: o.Logger, secrets: env.secrets}
	t.provider = sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(t.exporter))
	t.tracer = t.provider.Tracer(scope, trace.WithInstrumentationVersion(o.Version))
	o.Logger.Info("tracing_on", zap.String("collector", env.host), zap.String("protocol", env.protocol))
	return t, nil
}

// flushTimeout is how long a stop lets spans reach the collector.
const flushTimeout = time.Second

// Close ends the spans of jobs that are still in hand, and lets what has not been sent yet reach the collector, for one
// second at the most. A collector that does not take them is no error of a stop: it is logged.
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
		t.log.Warn("traces_not_flushed", zap.String("error", t.exporter.tell(err)))
		cancel()
		_ = t.exporter.Shutdown(ctx) // with a context that is over, it breaks off what is under way
	}
	return nil
}
