package policy_test

import (
	"fmt"
	"time"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

const dental = `
policies:
  - name: dental
    base: 5m
    max: 1h
    maxRetries: 4
    deadline: 24h
    rules:
      - {id: dental.no-cover, class: PERMANENT, contains: [NO COVER]}
      - {id: dental.timeout, class: TRANSIENT, contains: [TIMEOUT, TIMED OUT], unless: {contains: [TEST]}}
`

// A file adds policies to the built-in ones. A policy classifies error texts and has a schedule.
func ExampleParse() {
	set, err := policy.Parse("policies.yaml", []byte(dental))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Names())
	p, _ := set.Get("dental")
	fmt.Println(p.Classify("Read timed out").RuleID, p.Classify("no cover for this tooth").Class)
	for wait := range retry.Schedule(p, retry.Request{ClaimID: "CLM-1-1"}, time.Time{}) {
		fmt.Printf("retry %d after %s, %s in all\n", wait.Retry, retry.FormatDuration(wait.Shortest), retry.FormatDuration(wait.TotalShortest))
	}
	// Output:
	// [dental fast job-queue rn-bil-005 smtp smtp-dev tiss]
	// dental.timeout PERMANENT
	// retry 1 after 5m, 5m in all
	// retry 2 after 10m, 15m in all
	// retry 3 after 20m, 35m in all
	// retry 4 after 40m, 1h15m in all
}

// A file with faults is refused. The error has a line for each of them.
func ExampleParse_faults() {
	_, err := policy.Parse("policies.yaml", []byte(`
policies:
  - name: dental
    bass: 5m
    max: 1 hour
    maxRetries: 4
`))
	fmt.Println(err)
	// Output:
	// policies.yaml:4: policy dental: there is no field bass: did you mean base?
	// policies.yaml:5: policy dental: "1 hour" must be a duration such as 500ms, 90s, 5m or 24h, or PT5M
}

// Lint finds likely mistakes in a valid policy, here retries that end before an outage of three hours does.
func ExampleSet_Lint() {
	set, err := policy.Parse("policies.yaml", []byte(dental))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range set.Lint("dental", 3*time.Hour) {
		fmt.Printf("%s:%d: %s: %s\n", f.File, f.Line, f.Severity, f.Problem)
		fmt.Println("  " + f.Advice)
	}
	// Output:
	// policies.yaml:5: information: the 60 min cap is never reached with 4 retries: the longest wait is 40 min
	//   lower max, unless it is there to bound server hints
	// policies.yaml:6: warning: an outage of 180 min outlasts all retries: they are used up after 75 min
	//   raise maxRetries, factor or max
}
