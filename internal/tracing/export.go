package tracing

import (
	"context"
	"strings"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/zap"
)

// reportEvery is how often it is logged at the most that the collector takes no spans.
const reportEvery = time.Minute

// exporter sends spans, and logs what goes wrong. The SDK would tell it for every few hundred spans, to a global handler.
type exporter struct {
	sdktrace.SpanExporter
	log *zap.Logger
	// secrets are the values of the headers that are sent along. A collector may repeat them in what it answers.
	secrets []string

	mu       sync.Mutex
	reported time.Time
	lost     int // spans since then
}

// ExportSpans sends spans. What fails is logged here, and is no error to the SDK.
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
	e.log.Warn("traces_not_taken", zap.Int("spans", e.lost), zap.String("error", e.tell(err)),
		zap.String("detail", "these spans are lost; jobs do not wait for the collector"))
	e.reported, e.lost = time.Now(), 0
}

// maxTold is how much of an error is logged, in bytes: a proxy may answer with a page.
const maxTold = 500

// tell is the text of an error without secrets.
func (e *exporter) tell(err error) string {
	text := err.Error()
	for _, secret := range e.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return strings.ToValidUTF8(text[:min(len(text), maxTold)], "")
}
