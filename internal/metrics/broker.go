package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/job"
)

// broker holds the metrics of the calls to the broker.
type broker struct {
	polls     *prometheus.CounterVec
	answers   *prometheus.CounterVec
	incidents *prometheus.CounterVec
	panics    prometheus.Counter

	// The names of Camunda's clients, new and old, with the labels that Zeebe's own Grafana dashboard reads.
	activated, handled [2]*prometheus.CounterVec
	// The name and labels that the Camunda starter for Spring has.
	invocations *prometheus.CounterVec
}

// clientNames are what the names begin with by which Camunda's clients count jobs: those of the newer clients, and of the older ones.
var clientNames = [2]string{"camunda_client_worker_job", "zeebe_client_worker_job"}

// codes are the names of the gRPC status codes.
var codes = []string{
	"OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists", "PermissionDenied",
	"ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented", "Internal", "Unavailable", "DataLoss",
	"Unauthenticated",
}

// actions are what the Camunda starter calls the answers.
var actions = map[job.Kind]string{
	job.KindComplete: "completed", job.KindThrowError: "bpmn-error", job.KindFail: "failed", job.KindRelease: "failed",
}

func newBroker(r registrar) broker {
	b := broker{
		polls:       r.counters("retry_polls_total", "Polls for jobs that ended, by gRPC code: OK if they succeeded, with jobs or without.", "code"),
		answers:     r.counters("retry_job_answers_total", "Answers to jobs, by kind and result: accepted by the broker, not found (the job no longer existed), or unknown.", "answer", "result"),
		incidents:   r.counters("retry_incidents_raised_total", "Jobs that were failed without a retry left, so that the broker raised an incident.", "job_type"),
		panics:      r.counter("retry_panics_total", "Calls of a handler that panicked or did not return in time; the worker keeps running."),
		invocations: r.counters("camunda_job_invocations_total", "Jobs, as the Camunda starter for Spring counts them: activated, and then completed, failed (released ones included) or bpmn-error.", "action", "type"),
	}
	for i, name := range clientNames { // Zeebe's Grafana dashboard reads the labels in this case
		b.activated[i] = r.counters(name+"_activated_total", "Jobs that were activated, as Camunda's clients count them.", "workerName", "jobType")
		b.handled[i] = r.counters(name+"_handled_total", "Jobs that were answered, as Camunda's clients count them.", "workerName", "jobType")
	}
	for _, code := range codes {
		b.polls.WithLabelValues(code)
	}
	for _, kind := range []job.Kind{job.KindComplete, job.KindThrowError, job.KindFail, job.KindRelease} {
		for _, result := range []job.Result{job.Accepted, job.NotFound, job.Unknown} {
			b.answers.WithLabelValues(kind.String(), result.String())
		}
	}
	return b
}

// Jobs counts what happens to the jobs of one type. It is made by [Metrics.Jobs].
type Jobs struct {
	broker             *broker
	activated, handled []prometheus.Counter
	incidents, begun   prometheus.Counter
	ended              map[job.Kind]prometheus.Counter
}

// Jobs returns the counters of one job type and worker name. Their series exist from then on.
func (m *Metrics) Jobs(jobType, workerName string) *Jobs {
	j := &Jobs{
		broker:    &m.broker,
		incidents: m.broker.incidents.WithLabelValues(jobType),
		begun:     m.broker.invocations.WithLabelValues("activated", jobType),
		ended:     map[job.Kind]prometheus.Counter{},
	}
	for i := range clientNames {
		j.activated = append(j.activated, m.broker.activated[i].WithLabelValues(workerName, jobType))
		j.handled = append(j.handled, m.broker.handled[i].WithLabelValues(workerName, jobType))
	}
	for kind, action := range actions {
		j.ended[kind] = m.broker.invocations.WithLabelValues(action, jobType)
	}
	return j
}

// Polled counts a poll by the name of its gRPC code.
func (j *Jobs) Polled(code string) {
	if !slices.Contains(codes, code) { // a gateway may send one of its own
		code = "Unknown"
	}
	j.broker.polls.WithLabelValues(code).Inc()
}

// Activated counts jobs that came with one poll.
func (j *Jobs) Activated(jobs int) {
	for _, c := range j.activated {
		c.Add(float64(jobs))
	}
	j.begun.Add(float64(jobs))
}

// HandlerFailed counts a call of the handler that panicked or hung.
func (j *Jobs) HandlerFailed() { j.broker.panics.Inc() }

// Answered counts an answer and what became of it.
func (j *Jobs) Answered(_ int64, answer job.Answer, result job.Result) {
	kind := answer.Kind()
	j.broker.answers.WithLabelValues(kind.String(), result.String()).Inc()
	for _, c := range j.handled {
		c.Inc()
	}
	j.ended[kind].Inc()
	if kind == job.KindFail && answer.Retries() == 0 && result == job.Accepted {
		j.incidents.Inc()
	}
}
