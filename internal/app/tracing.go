package app

import (
	"context"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/tracing"
)

// openTracing makes the tracer, by OpenTelemetry's own variables.
func (a *App) openTracing(ctx context.Context, version string) (err error) {
	a.tracer, err = tracing.New(ctx, tracing.Options{Worker: a.cfg.WorkerName, Version: version, Environment: config.Process(), Logger: a.log})
	if err != nil {
		return faultsOf("", err)
	}
	a.later("flush the traces", a.tracer.Close)
	return nil
}

// jobObserver counts and traces the jobs of one type.
type jobObserver struct {
	*metrics.Jobs
	tracer *tracing.Tracer
}

// Answered counts the answer and ends the job's span.
func (o jobObserver) Answered(jobKey int64, answer job.Answer, result job.Result) {
	o.Jobs.Answered(jobKey, answer, result)
	o.tracer.Answered(jobKey, answer, result)
}
