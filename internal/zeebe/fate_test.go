package zeebe

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

// The table of what is told of an answer's fate.
func TestAnAnswersFateIsToldOnce(t *testing.T) {
	lost := gatewaytest.Fault{Code: codes.Unavailable, Applied: true}
	for name, test := range map[string]struct {
		faults []gatewaytest.Fault
		want   job.Fate
	}{
		"taken at once":                        {nil, job.Taken},
		"taken at the second try":              {[]gatewaytest.Fault{{Code: codes.Unavailable}}, job.Taken},
		"gone at the first try":                {[]gatewaytest.Fault{{Code: codes.NotFound}}, job.Gone},
		"gone after a try that may have come":  {[]gatewaytest.Fault{lost}, job.Taken},
		"the job failed meanwhile":             {[]gatewaytest.Fault{{Code: codes.FailedPrecondition}}, job.Unknown},
		"refused as invalid, then an incident": {[]gatewaytest.Fault{{Code: codes.InvalidArgument}}, job.Unknown},
		"given up when the lock ends":          {[]gatewaytest.Fault{{Times: -1, Code: codes.Unavailable}}, job.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				for _, f := range test.faults {
					r.gateway.Inject(gatewaytest.CompleteJob, f)
				}
				r.add(1)
				told := make(chan job.Fate, 10)
				first := true
				seen := &watcher{}
				r.run(Options{Observer: seen, Handler: each(func(j job.Job) job.Answer {
					if !first { // after a lock has ended
						return job.Complete("{}")
					}
					first = false
					return job.Complete("{}").Then(func(f job.Fate) { told <- f })
				})})
				r.advance(9600 * time.Millisecond)
				_, _ = r.end()
				close(told)
				var got []job.Fate
				for f := range told {
					got = append(got, f)
				}
				if len(got) != 1 || got[0] != test.want {
					r.Errorf("told %v, want %v once", got, test.want)
				}
				kind, fate := job.KindComplete, test.want
				if test.faults != nil && test.faults[0].Code == codes.InvalidArgument { // then it is the incident's
					kind, fate = job.KindFail, job.Taken
				}
				if len(seen.fates) == 0 || seen.answers[0].Kind() != kind || seen.fates[0] != fate {
					r.Errorf("the observer was told %v of %v, want first %v of %v", seen.fates, seen.answers, fate, kind)
				}
			})
		})
	}
}
