package report

import (
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/simulate"
	"hospital.example/analyze-retry/internal/term"
)

// Simulation is what simulate answers. Its JSON form is stable: names are added, never changed. Times are seconds since the
// start of the simulation.
type Simulation struct {
	Claims          int               `json:"claims"`
	ArrivalsSeconds int64             `json:"arrivalsSeconds"`
	Outages         []simulatedOutage `json:"outages"`
	Error           string            `json:"submissionError"`
	FailureRate     float64           `json:"failureRate"`
	Seed            uint64            `json:"seed"`
	// Policies are the policy and the one it is compared with.
	Policies []simulatedPolicy `json:"policies"`
	// WaveSeconds is the time that each of the waves stands for.
	WaveSeconds int64 `json:"waveSeconds"`

	scenario simulate.Scenario
	plays    []Play
	// span is the time that the picture shows.
	span time.Duration
}

type simulatedOutage struct {
	Begin int64 `json:"beginSeconds"`
	End   int64 `json:"endSeconds"`
}

type simulatedPolicy struct {
	Policy         string      `json:"policy"`
	PolicyVersion  string      `json:"policyVersion"`
	Classification retry.Class `json:"errorClassification"`
	RuleID         string      `json:"ruleId"`
	// The claims by how they end, all of them together.
	AtOnce    int `json:"acceptedAtOnce"`
	Survivors int `json:"survivors"`
	Exhausted int `json:"exhausted"`
	Deadline  int `json:"stoppedByDeadline"`
	Permanent int `json:"stoppedAsPermanent"`
	// Tries are all submissions, WastedTries the retries that were made in an outage.
	Tries         int     `json:"tries"`
	TriesPerClaim float64 `json:"triesPerClaim"`
	WastedTries   int     `json:"wastedTries"`
	// From a survivor's first failure to its acceptance; null where there is no survivor.
	P50 *int64 `json:"timeToSuccessP50Seconds"`
	P95 *int64 `json:"timeToSuccessP95Seconds"`
	Max *int64 `json:"timeToSuccessMaxSeconds"`
	// The most retries within any minute.
	LargestWave      simulatedWave `json:"largestWave"`
	LargestWavePlain simulatedWave `json:"largestWaveWithoutJitter"`
	// LastAccepted is when the last survivor was accepted, from the end of the last outage on; null where that was before it,
	// and where there is no survivor.
	LastAccepted *int64 `json:"lastAcceptedAfterOutageSeconds"`
	// Waves are the retries in each time of WaveSeconds.
	Waves      []int `json:"waves"`
	WavesPlain []int `json:"wavesWithoutJitter"`
	// Schedule is in which time after its first failure a claim is tried again, as long as it fails.
	Schedule []simulatedBand `json:"schedule"`

	bands []retry.Scheduled
}

type simulatedWave struct {
	At      int64 `json:"atSeconds"`
	Retries int   `json:"retries"`
}

type simulatedBand struct {
	Retry    int   `json:"retry"`
	Shortest int64 `json:"earliestSeconds"`
	Longest  int64 `json:"latestSeconds"`
}

// Play is a policy's simulation, with that of the same policy without jitter.
type Play struct {
	Policy      *retry.Policy
	With, Plain *simulate.Result
}

// SimulationOf returns the answer about a scenario that was played under one policy or two.
func SimulationOf(s simulate.Scenario, plays []Play) *Simulation {
	result := &Simulation{
		Claims: s.Claims, ArrivalsSeconds: seconds(s.Arrivals), Error: s.Error, FailureRate: s.FailureRate, Seed: s.Seed,
		scenario: s, plays: plays, span: s.End(),
	}
	for _, o := range s.Outages {
		result.Outages = append(result.Outages, simulatedOutage{seconds(o.Begin), seconds(o.End)})
	}
	for _, p := range plays {
		for _, waves := range [][]simulate.Wave{p.With.Waves, p.Plain.Waves} {
			if len(waves) > 0 {
				result.span = max(result.span, waves[len(waves)-1].At+time.Second)
			}
		}
	}
	width := stepOf(result.span, chartColumns)
	result.WaveSeconds = seconds(width)
	for _, p := range plays {
		result.Policies = append(result.Policies, simulatedPolicyOf(&s, p, width))
	}
	return result
}

func simulatedPolicyOf(s *simulate.Scenario, p Play, width time.Duration) simulatedPolicy {
	r := p.With
	one := simulatedPolicy{
		Policy: p.Policy.Name, PolicyVersion: p.Policy.Version(), Classification: r.Class.Class, RuleID: r.Class.RuleID,
		AtOnce: r.AtOnce, Survivors: r.Survivors, Exhausted: r.Exhausted, Deadline: r.Deadline, Permanent: r.Permanent,
		Tries: r.Tries, TriesPerClaim: float64(r.Tries) / float64(s.Claims), WastedTries: r.Wasted,
		LargestWave:      simulatedWave{seconds(r.Largest.At), r.Largest.Retries},
		LargestWavePlain: simulatedWave{seconds(p.Plain.Largest.At), p.Plain.Largest.Retries},
		Waves:            perStep(r.Waves, width), WavesPlain: perStep(p.Plain.Waves, width),
		Schedule: []simulatedBand{}, // in JSON a list, even where it is empty
	}
	if r.Survivors > 0 {
		p50, p95, longest := seconds(r.P50), seconds(r.P95), seconds(r.Max)
		one.P50, one.P95, one.Max = &p50, &p95, &longest
		if last := seconds(r.LastAccepted - s.End()); last >= 0 {
			one.LastAccepted = &last
		}
	}
	one.bands = bandsOf(p.Policy, s.Error)
	for _, b := range one.bands {
		one.Schedule = append(one.Schedule, simulatedBand{b.Retry, seconds(b.TotalShortest), seconds(b.TotalLongest)})
	}
	return one
}

// bandsOf returns the retries of a claim that fails every time: the totals are the band after its first failure in which it is
// tried again. There are none for an error that is not retried, and for one that says itself when to come back.
func bandsOf(p *retry.Policy, text string) []retry.Scheduled {
	request := retry.Request{ClaimID: AnyClaim, SubmissionError: text}
	start := time.Unix(0, 0)
	if d, err := p.Decide(request, start); err != nil || d.Step == retry.StepHint {
		return nil
	}
	return slices.Collect(retry.Schedule(p, request, start))
}

func bandWords(b *retry.Scheduled) string { return term.Range(b.TotalShortest, b.TotalLongest) }

// perStep adds up the waves by steps of time.
func perStep(waves []simulate.Wave, width time.Duration) []int {
	steps := []int{} // in JSON a list, even where it is empty
	for _, w := range waves {
		i := int(w.At / width)
		for len(steps) <= i {
			steps = append(steps, 0)
		}
		steps[i] += w.Retries
	}
	return steps
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

const day = 24 * time.Hour

// steps are the widths of columns and the distances of ticks on an axis.
var steps = []time.Duration{
	time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 6 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute, 5 * time.Minute, 6 * time.Minute, 8 * time.Minute, 10 * time.Minute, 12 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour, 8 * time.Hour, 12 * time.Hour, day, 2 * day, 5 * day, 10 * day, 30 * day, 90 * day,
}

// stepOf returns the least step of which at most so many make up the span, and beyond all steps a multiple of the last.
func stepOf(span time.Duration, most int) time.Duration {
	for _, one := range steps {
		if span <= time.Duration(most)*one {
			return one
		}
	}
	last := steps[len(steps)-1]
	return (span/time.Duration(most) + last).Truncate(last)
}
