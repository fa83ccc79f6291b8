package zeebe

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/job"
)

// intake lets in what one poll asked for and leaves out what else a gateway sends: a job twice, one of another type or
// tenant, one without a key, more jobs than there are slots for. A job that is left out is not answered, because it is not
// this worker's to answer; its lock ends by itself.
type intake struct {
	jobType string
	tenant  string
	left    int
	seen    map[int64]bool
	refused refusals
}

// refusals counts the jobs that were left out, by the reason.
type refusals struct{ unkeyed, otherType, otherTenant, twice, surplus int }

// take returns the jobs that are let in, in their order.
func (i *intake) take(jobs []job.Job) []job.Job {
	return slices.DeleteFunc(jobs, func(j job.Job) bool { return !i.admits(j) })
}

func (i *intake) admits(j job.Job) bool {
	switch {
	case j.Key <= 0:
		i.refused.unkeyed++
	case j.Type != i.jobType:
		i.refused.otherType++
	case cmp.Or(j.Tenant, job.DefaultTenant) != i.tenant: // a gateway without multi-tenancy may name none
		i.refused.otherTenant++
	case i.seen[j.Key]:
		i.refused.twice++
	case i.left == 0:
		i.refused.surplus++
	default:
		i.left--
		i.seen[j.Key] = true
		return true
	}
	return false
}

// refusalPause is the least time between two lines about jobs that were left out: a gateway may send such with every poll.
const refusalPause = time.Minute

// refusalLog logs jobs that were left out.
type refusalLog struct {
	mu   sync.Mutex
	last time.Time
}

func (l *refusalLog) note(log *zap.Logger, r refusals) {
	if r == (refusals{}) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.last.IsZero() && time.Since(l.last) < refusalPause {
		return
	}
	l.last = time.Now()
	log.Error("jobs_left_out",
		zap.Int("withoutKey", r.unkeyed), zap.Int("ofOtherType", r.otherType), zap.Int("ofOtherTenant", r.otherTenant),
		zap.Int("twice", r.twice), zap.Int("moreThanRequested", r.surplus),
		zap.String("detail", "the gateway sent jobs that this poll did not request; they are not worked, and their locks end by themselves: "+
			"look for a proxy or a gateway that answers one client with what another requested"))
}
