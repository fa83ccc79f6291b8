package zeebe

import (
	"cmp"
	"slices"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/transport"
)

// intake lets in what one poll asked for and leaves out what else a gateway sends: a job twice, one of another type or
// tenant, one without a key, more jobs than there are slots for. A job that is left out is not answered, because it is not
// this worker's to answer; its lock ends by itself.
type intake struct {
	poll transport.Poll
	seen map[int64]bool // the jobs that are let in
	left map[string]int // how many are left out, by the reason
}

// take returns the jobs that are let in, in their order.
func (i *intake) take(jobs []job.Job) []job.Job {
	return slices.DeleteFunc(jobs, func(j job.Job) bool {
		reason := i.refuse(j)
		if reason == "" {
			i.seen[j.Key] = true
			return false
		}
		if i.left == nil {
			i.left = map[string]int{}
		}
		i.left[reason]++
		return true
	})
}

// refuse returns why a job is left out, empty if it is not.
func (i *intake) refuse(j job.Job) string {
	switch {
	case j.Key <= 0:
		return "withoutKey"
	case j.Type != i.poll.JobType:
		return "ofOtherType"
	case cmp.Or(j.Tenant, job.DefaultTenant) != i.poll.Tenant: // a gateway without multi-tenancy may name none
		return "ofOtherTenant"
	case i.seen[j.Key]:
		return "twice"
	case len(i.seen) == i.poll.Max:
		return "moreThanRequested"
	default:
		return ""
	}
}

// leftOutPause is the least time between two lines about jobs that were left out: a gateway may send such with every poll.
const leftOutPause = time.Minute

// note logs which jobs were left out of a poll.
func (w *Worker) note(leftOut map[string]int) {
	if leftOut == nil || time.Since(w.noted) < leftOutPause {
		return
	}
	w.noted = time.Now()
	w.log.Error("jobs_left_out", zap.Any("jobs", leftOut),
		zap.String("detail", "the gateway sent jobs that this poll did not request; they are not worked, and their locks end by themselves: "+
			"look for a proxy or a gateway that answers one client with what another requested"))
}
