package zeebe

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/ops/outage"
)

const (
	// maxAnswering is how many answers are sent at a time.
	maxAnswering = 32
	// answerTimeout bounds one try to send an answer.
	answerTimeout = 5 * time.Second
)

var answerBackoff = outage.Backoff{Min: 10 * time.Millisecond, Max: time.Second}

// reply is a job and its answer, to be sent while the job is locked.
type reply struct {
	job    job.Job
	answer job.Answer
}

// answerJobs sends answers until replies is closed.
func (w *Worker) answerJobs() {
	for r := range w.replies {
		if result := w.deliver(&r); result != "" {
			w.opt.Observer.Answered(r.answer, result)
			w.slots.release()
		}
	}
}

// deliver sends an answer until its result is known or the lock ends, and returns the result. It becomes an
// incident if the gateway refuses the handler's. The result is none of them if the worker stops before it is
// known: the job may still be locked.
//
// An answer whose call failed may have been accepted all the same. It is sent again unchanged, because
// another answer could undo what the broker has accepted already.
func (w *Worker) deliver(r *reply) job.Result {
	backoff := answerBackoff
	code := codes.DeadlineExceeded // of the last try
	inDoubt := false               // an earlier try may have been accepted
	for {
		left := time.Until(w.answerBy(r.job))
		if left <= 0 {
			// The broker gives the job out again.
			w.log.Warn("answer_given_up", r.fields(code)...)
			w.answers.Failed(r.job.Received, fmt.Errorf("no answer to a job is taken: %s", code))
			return job.Unknown
		}
		switch code = w.send(*r, min(left, answerTimeout)); code {
		case codes.OK, codes.NotFound, codes.FailedPrecondition, codes.InvalidArgument: // it got through
			w.answers.Succeeded()
		}
		switch code {
		case codes.OK:
			return job.Accepted
		case codes.NotFound:
			w.log.Info("job_gone", r.fields(code)...)
			if !inDoubt {
				return job.NotFound
			}
			return job.Accepted // the earlier try was accepted, as far as can be known
		case codes.FailedPrecondition:
			w.log.Info("answer_not_taken", r.fields(code)...) // failed meanwhile, or suspended
			return job.Unknown
		case codes.InvalidArgument:
			w.log.Error("answer_refused_as_invalid", r.fields(code)...)
			if inDoubt || r.answer.Kind == job.KindFail || r.answer.Kind == job.KindRelease {
				return job.Unknown
			}
			r.answer = job.Incident(
				w.words.Sprintf("the gateway refused the worker's answer as invalid: a fault of the worker"))
			continue
		case codes.ResourceExhausted, codes.Unauthenticated, codes.PermissionDenied: // it was not passed on
		default:
			inDoubt = true
		}
		if w.answering.Err() != nil {
			return ""
		}
		outage.Sleep(w.answering, min(backoff.Next(), left))
	}
}

// fields are logged with an answer that did not simply succeed: of the gateway's reason only the code,
// because its text may repeat the answer.
func (r reply) fields(code codes.Code) []zap.Field {
	return append(jobFields(r.job), zap.String("answer", string(r.answer.Kind)), zap.Stringer("code", code))
}

// send makes one try.
func (w *Worker) send(r reply, limit time.Duration) codes.Code {
	ctx, cancel := context.WithTimeout(w.answering, limit)
	defer cancel()
	return transport.Code(w.client.Answer(ctx, r.job, r.answer))
}
