package tracing

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/collectortest"
)

// answers is a handler that answers every job, unless one of the batch makes it panic.
type answers func(jobs []job.Job) []job.Answer

func (a answers) Handle(_ context.Context, jobs []job.Job) []job.Answer { return a(jobs) }

func complete(jobs []job.Job) []job.Answer {
	list := make([]job.Answer, len(jobs))
	for i := range list {
		list[i] = job.Complete("{}")
	}
	return list
}

// handle hands a batch to the handler and minds no panic, as the job loop does.
func handle(t *testing.T, h job.Handler, jobs []job.Job) {
	t.Helper()
	defer func() { _ = recover() }()
	h.Handle(t.Context(), jobs)
}

// A batch that panics is handed over again job by job. What became of each is known when its answer is settled.
func TestAJobThatIsHandledAgainHasOneSpan(t *testing.T) {
	collector := collectortest.StartGRPC(t)
	tracer, _, err := open(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc")
	check.Must(t, err)
	h := tracer.Handler("analyze-retry", answers(func(jobs []job.Job) []job.Answer {
		for _, j := range jobs {
			if j.Key == 2 {
				panic("job 2")
			}
		}
		return complete(jobs)
	}))
	jobs := []job.Job{{Key: 1}, {Key: 2}, {Key: 3}, {Key: 4}}
	handle(t, h, jobs)
	stored := map[string]string{} // what a handler may have stored before another job panicked
	for i := range jobs {
		one, _ := tracer.of(jobs[i].Key)
		stored[fmt.Sprint(jobs[i].Key)] = one.traceparent
		handle(t, h, jobs[i:i+1])
	}
	tracer.Answered(1, job.Complete("{}"), job.Accepted)
	tracer.Answered(2, job.Fail(2, "the worker's handler panicked"), job.Accepted)
	tracer.Answered(3, job.Release("released: the worker is stopping"), job.Unknown)
	tracer.Answered(3, job.Complete("{}"), job.Accepted) // it is not active any more
	tracer.Answered(9, job.Complete("{}"), job.Accepted) // nor was this one ever
	check.Must(t, tracer.Close())
	got := map[string]string{}
	for _, s := range collector.Spans() {
		if key := s.Attributes["messaging.message.id"]; s.Traceparent() != stored[key] {
			t.Errorf("the span of job %s is %s, but what was stored of it belongs to %s", key, s.Traceparent(), stored[key])
		}
		got[s.Attributes["messaging.message.id"]] += fmt.Sprintf("%s %s %s: %s", s.Attributes["retry.answer"], s.Attributes["retry.result"], s.Attributes["error.type"], s.Error)
	}
	for key, want := range map[string]string{
		"1": "complete accepted : ",
		"2": "fail accepted failed: the worker's handler panicked",
		"3": "release unknown released: released: the worker is stopping",
		"4": "  unanswered: the worker stopped before the job was answered",
	} {
		check.Same(t, want, got[key], "spans of job %s", key)
	}
	if len(got) != 4 || len(tracer.jobs) != 0 {
		t.Errorf("%d spans, want 4; %d jobs are still held", len(got), len(tracer.jobs))
	}
}

func TestANameThatIsNoUTF8LosesNoSpans(t *testing.T) {
	collector := collectortest.StartHTTP(t)
	tracer, logs, err := open(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	check.Must(t, err)
	handle(t, tracer.Handler("analyze-retry", answers(complete)), []job.Job{{Key: 1}})
	tracer.Answered(1, job.Fail(0, "no\xff"), job.Accepted)
	_ = tracer.Close()
	if spans := collector.Spans(); len(spans) != 1 || spans[0].Error != "no\uFFFD" {
		t.Errorf("spans %+v, log %v", spans, logs.FilterMessage("traces_not_taken").All())
	}
}

// offPath is what tracing adds to a batch when it is off.
func offPath(tracer *Tracer) func() {
	h := tracer.Handler("analyze-retry", answers(func([]job.Job) []job.Answer { return nil }))
	text := `{"claimId":"CLM-001-1","submissionError":"` + strings.Repeat("TIMEOUT ", 60) + `","retryCount":1}`
	jobs := []job.Job{{Key: 1, Variables: text}}
	ctx := context.Background()
	return func() {
		h.Handle(ctx, jobs)
		tracer.of(1)
		tracer.Answered(1, job.Answer{}, job.Accepted)
	}
}

func TestTracingThatIsOffAllocatesNothing(t *testing.T) {
	tracer, _, err := open(t)
	check.Must(t, err)
	check.Same(t, 0, testing.AllocsPerRun(100, offPath(tracer)), "allocations for a job")
}

func BenchmarkAJobWhileTracingIsOff(b *testing.B) {
	tracer := &Tracer{jobs: map[int64]traced{}}
	work := offPath(tracer)
	b.ReportAllocs()
	for b.Loop() {
		work()
	}
}
