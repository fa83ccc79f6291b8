package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

func (p *program) history() *cobra.Command {
	command := &cobra.Command{Use: "history CLAIM", Args: cobra.ExactArgs(1)}
	steps := command.Flags().Bool("steps", false, "also the six steps of every decision")
	return p.answers(command, aStore, func(c *call) (any, error) {
		state, records, err := c.claim()
		if err != nil {
			return nil, err
		}
		h := history{now: p.now()}
		h.Claim, _ = claims.Know(c.args[0], state, records, h.now)
		for i := range records {
			facts, wrong := records[i].Facts()
			err = cmp.Or(err, wrong)
			h.Records, h.facts = append(h.Records, recordOf(&records[i])), append(h.facts, facts)
		}
		if err != nil {
			return nil, text.Messagef("%s; worker audit verify reports whether it was changed, "+
				"worker audit export shows it as it is", err)
		}
		set, err := policies("")
		if err != nil {
			set = policy.BuiltIns() // a claim has a history without the others too
		}
		h.say(c.w, set, *steps)
		return h, nil
	})
}

// history is what is known of a claim. Its JSON form is stable: names are added, never changed.
type history struct {
	claims.Claim

	Records []storedRecord `json:"records"`

	facts []contract.Facts // of the records
	now   time.Time
}

// maxShownError is how many characters of an insurer's text a terminal is given; a page of HTML would bury
// the rest.
const maxShownError = 240

// say words the history, a line a record, with steps also what the decisions found in theirs. It states what
// the trail knows: that the worker stopped a claim, not what the model did with it. inForce are the policies
// as they are now.
func (h *history) say(w *wording, inForce *policy.Set, steps bool) {
	day, now := "", w.standing(&h.Claim, h.now)
	if h.Standing == audit.Waiting {
		now += ", " + w.Time(h.NextRetryTime)
	}
	rows := [][]string{{text.Line(w.Sprintf("Claim %s: %s", h.ClaimID, now))}, {w.Zone()}}
	for i := range h.Records {
		r, f := h.Records[i].Record, &h.facts[i]
		if on := w.Day(r.At); on != day {
			rows, day = append(rows, []string{""}, []string{on}), on
		}
		what, story := w.event(r, f)
		wait := ""
		if r.Kind == audit.KindRetry {
			waited := span(f.RetryDecision.BackoffDuration)
			one, _ := inForce.Get(r.Policy)
			wait = w.wait(&f.RetryDecision, text.Range{Shortest: waited, Longest: waited}, one)
			what, story = w.Sprintf("retry %d", r.RetryCount), h.waits(w, i, wait)+"  "+story
		}
		rows = append(rows, []string{"  " + r.At.In(w.Location()).Format("15:04"), what, story})
		if steps {
			rows = append(rows, []string{w.inFull(r, f, wait)})
		}
	}
	w.table("", rows)
}

// waits words the wait of a retry by its record: its end may be to come, or a person came before it.
func (h *history) waits(w *wording, i int, wait string) string {
	due, last := h.Records[i].NextRetryTime, i == len(h.Records)-1
	switch {
	case last && h.now.Before(due):
		return w.Sprintf("waits %s", wait)
	case !last && h.Records[i+1].At.Before(due):
		return w.Sprintf("was to wait %s", wait)
	default:
		return w.Sprintf("waited %s", wait)
	}
}

// event words a record: how the claim stood after it, and what is known of that.
func (w *wording) event(r *audit.Record, f *contract.Facts) (what, story string) {
	c := claims.Ended(r)
	if !r.Kind.Ends() {
		after := audit.State{}.Add(r)
		after.NextRetryTime = time.Time{} // it is told with the wait
		c = claims.Open(r.ClaimID, &after, r.At)
	}
	what, story = w.standing(&c, r.At), w.Redacted(f.Justification)
	switch {
	case r.Kind.IsDecision():
		story = w.failure(r, f)
	case r.Kind == audit.KindRejected:
		story = fault(r.Message)
	case r.Kind == audit.KindDecisionRefused:
		what, story = w.Sprintf("no decision"), w.Redacted(f.DecisionProblem)
		if r.DecidedBy != "" {
			what = w.Sprintf("%s, by %s", what, w.Name("with", r.DecidedBy))
		}
	case f.RedriveWait != 0:
		story = w.Sprintf("in %s, with its count kept", time.Duration(f.RedriveWait)) + "  " + story
	}
	return what, story
}

// failure words why a submission failed, with its text where no rule found a word in that, and why the worker
// stopped the claim if it did.
func (w *wording) failure(r *audit.Record, f *contract.Facts) string {
	x, story := &f.RetryDecision, w.cause(r.Rule, r.Code)
	if r.Code == "" && f.SubmissionError != "" {
		story += ": " + text.Shorten(w.Redacted(f.SubmissionError), maxShownError)
	}
	if r.Kind == audit.KindRetry {
		return story
	}
	story = w.Name("kind", r.Kind.String()) + "  " + story
	if x.Step == retry.StepDeadline {
		story += "; " + w.Sprintf("no retry fits before the deadline %s", w.Time(x.Deadline))
	}
	if x.Advice != "" {
		story += "; " + w.Name("advice", x.Advice)
	}
	return story
}

// inFull words a record in full: the six steps of a decision, each with its time unless that is the time of
// the step before, and where the record is.
func (w *wording) inFull(r *audit.Record, f *contract.Facts, wait string) (s string) {
	const indent = "         "
	if f.Steps != nil {
		times, last := f.Steps.Times(), ""
		for i, found := range w.steps(&f.Decision, w.Redacted(f.SubmissionError), wait, r.Kind.String()) {
			at, before := w.Clock(times[i]), last
			if last = at; at == before {
				at = ""
			}
			head := fmt.Sprintf("%s%-18s  %-12s  ", indent, w.step(i), at)
			s += text.Wrap(head, text.Shorten(found, maxShownError))
		}
	}
	where := w.Sprintf("Process instance %s of cluster %s; policy %s; audit chain %s, place %s, hash %.12s.",
		strconv.FormatInt(r.ProcessInstanceKey, 10), r.Cluster,
		strings.TrimSpace(r.Policy+" "+f.RetryDecision.PolicyVersion),
		strconv.Itoa(r.Chain), strconv.FormatInt(r.Seq, 10), r.Hash)
	return s + text.Wrap(indent, where)
}
