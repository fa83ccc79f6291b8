package app

import (
	"context"
	"strings"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/tracing"
)

// openTracing makes what shows jobs as spans, as the environment says.
func (a *App) openTracing(ctx context.Context, version string) (err error) {
	a.tracer, err = tracing.New(ctx, tracing.Options{Worker: a.cfg.WorkerName, Version: version, Logger: a.log})
	if err != nil {
		return config.FaultsError(strings.Split(err.Error(), "\n"))
	}
	a.later("flush the traces", a.tracer.Close)
	return nil
}

// jobObserver tells of the jobs of one type to those who count and to those who trace.
type jobObserver struct {
	*metrics.Jobs
	tracer *tracing.Tracer
}

// Answered tells both that a job was answered.
func (o jobObserver) Answered(jobKey int64, answer job.Answer, result job.Result) {
	o.Jobs.Answered(jobKey, answer, result)
	o.tracer.Answered(jobKey, answer, result)
}
