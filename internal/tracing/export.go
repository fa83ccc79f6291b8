package tracing

import (
	"context"
	"strings"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/zap"
)

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
