package zeebe

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

// The table of what is told of an answer's result.
func TestAnAnswersFateIsToldOnce(t *testing.T) {
	lost := gatewaytest.Fault{Code: codes.Unavailable, Applied: true}
	for name, test := range map[string]struct {
		faults []gatewaytest.Fault
		want   job.Result
	}{
		"taken at once":                        {nil, job.Accepted},
		"taken at the second try":              {[]gatewaytest.Fault{{Code: codes.Unavailable}}, job.Accepted},
		"gone at the first try":                {[]gatewaytest.Fault{{Code: codes.NotFound}}, job.NotFound},
		"gone after a try that may have come":  {[]gatewaytest.Fault{lost}, job.Accepted},
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
				told := make(chan job.Result, 10)
				first := true
				seen := &watcher{}
				r.run(Options{Observer: seen, Handler: each(func(j job.Job) job.Answer {
					if !first { // after a lock has ended
						return job.Complete("{}")
					}
					first = false
					return job.Complete("{}").Then(func(f job.Result) { told <- f })
				})})
				r.advance(9600 * time.Millisecond)
				_, _ = r.end()
				close(told)
				var got []job.Result
				for f := range told {
					got = append(got, f)
				}
				if len(got) != 1 || got[0] != test.want {
					r.Errorf("told %v, want %v once", got, test.want)
				}
				kind, result := job.KindComplete, test.want
				if test.faults != nil && test.faults[0].Code == codes.InvalidArgument { // then it is the incident's
					kind, result = job.KindFail, job.Accepted
				}
				if len(seen.results) == 0 || seen.answers[0].Kind() != kind || seen.results[0] != result {
					r.Errorf("the observer was told %v of %v, want first %v of %v", seen.results, seen.answers, result, kind)
				}
			})
		})
	}
}
