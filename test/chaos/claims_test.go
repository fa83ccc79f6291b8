package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/redacttest"
)

// claim is the input of one job.
type claim struct {
	ID         string `json:"claimId"`
	Error      string `json:"submissionError"`
	RetryCount int    `json:"retryCount"`
	// kind is what must be decided about it; 0 leaves open whether anything is.
	kind audit.Kind
	// instance is its process instance, where the row knows it.
	instance int64
}

// canaries are the error texts of all claims, each with invented personal data in it that must turn up nowhere.
var canaries = redacttest.Take(4, 400)

// passing and permanent are the texts by what the rule makes of them.
var passing, permanent = sortTexts()

func sortTexts() (passing, permanent []string) {
	tiss := policy.BuiltIn("tiss")
	for _, c := range canaries {
		if tiss.Classify(c.Text).Class == retry.Permanent {
			permanent = append(permanent, c.Text)
		} else {
			passing = append(passing, c.Text)
		}
	}
	return passing, permanent
}

// A chunk of claims is one process instance with many jobs, all of claims to be retried, and some instances with one.
const (
	chunk       = 200
	chunkSingle = 22
)

// claimsOf makes the next claims of the row: nine in ten to be retried, seven in a hundred permanent, three exhausted,
// and one in a hundred with an input that is not valid.
func (r *rig) claimsOf(n int) []claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	made := make([]claim, n)
	for i := range made {
		number := len(r.claims)
		c := claim{
			ID: fmt.Sprintf("CLM-%s-%d", r.name, number), Error: passing[number%len(passing)], RetryCount: number % 5, kind: audit.KindRetry,
		}
		// The singles are the last of each chunk, and hold all that is not to be retried.
		switch last := min(n, (i/chunk+1)*chunk) - i; {
		case last > chunkSingle:
		case last > 8:
			c.Error, c.kind = permanent[number%len(permanent)], audit.KindPermanent
		case last > 2:
			c.RetryCount, c.kind = 5, audit.KindExhausted
		case last > 1:
			c.RetryCount, c.kind = -1, audit.KindRejected
		}
		r.claims[c.ID] = c
		made[i] = c
	}
	return made
}

// submit starts the process instances of n new claims and returns when the broker has them all.
func (r *rig) submit(n int) {
	r.Helper()
	if err := r.trySubmit(n); err != nil {
		r.Fatal(err)
	}
}

// trySubmit is submit for other goroutines than the test's own.
func (r *rig) trySubmit(n int) error {
	claims := r.claimsOf(n)
	for len(claims) > 0 {
		of := claims[:min(chunk, len(claims))]
		claims = claims[len(of):]
		many := max(0, len(of)-chunkSingle)
		if many > 0 {
			if err := r.create(manyTasks, map[string]any{"claims": of[:many]}); err != nil {
				return err
			}
		}
		var singles errgroup.Group
		singles.SetLimit(8)
		for _, c := range of[many:] {
			singles.Go(func() error { return r.create(oneTask, c) })
		}
		if err := singles.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// submitOne starts an instance for a claim of the row's own making, with the variables given or else the claim's.
func (r *rig) submitOne(c claim, variables any) int64 {
	r.Helper()
	if variables == nil {
		variables = c
	}
	key, err := r.createInstance(oneTask, variables)
	r.must(err)
	c.instance = key
	r.mu.Lock()
	defer r.mu.Unlock()
	r.claims[c.ID] = c
	return key
}

func (r *rig) create(process string, variables any) error {
	_, err := r.createInstance(process, variables)
	return err
}

// createInstance starts a process instance. A broker that holds off is asked again; any other error may mean that the
// instance was started.
func (r *rig) createInstance(process string, variables any) (int64, error) {
	text, err := json.Marshal(variables)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	for {
		created, err := r.broker.CreateProcessInstance(ctx, &pb.CreateProcessInstanceRequest{BpmnProcessId: process, Version: -1, Variables: string(text)})
		if err == nil {
			r.started.Add(1)
			return created.ProcessInstanceKey, nil
		}
		if status.Code(err) != codes.ResourceExhausted {
			return 0, fmt.Errorf("start %s: %w", process, err)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}
