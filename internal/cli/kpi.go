package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
)

func newKPI(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "kpi",
		Short: "Measure the KPIs of the rule against their targets",
		Long: `Measures the KPIs of RN-BIL-005 and of its sibling RN-BIL-004 over the records
of the last days, each against its target:

  success after retry      accepted, of the rounds that had a retry and ended
  time to success          from the first failure to the acceptance, where there
                           was a retry; mean and median
  permanent errors         of all errors that were decided about
  retries used up          claims at the limit, of all claims decided about
  claims lost              the same, of the claims that were retried
  attempts to success      submissions for each acceptance

A round is the submissions of a claim until it is accepted, a person submits it
again, or a person gives it up. How rounds end is known from the outcomes that
the process reports (record-retry-outcome).`,
		Example: `  worker kpi
  worker kpi --since 24h --json | jq '.kpis[] | select(.verdict == "missed")'`,
		Args: noArgs,
	}
	since := span(7 * day)
	flags := command.Flags()
	flags.Var(&since, "since", "how far back to measure, as 7d, 24h or 90m")
	asJSON := flags.Bool("json", false, "print one JSON object")
	command.RunE = func(command *cobra.Command, _ []string) error {
		return ask(command, func(ctx context.Context, _ config.Config, store audit.Store) error {
			to := now().UTC()
			from := to.Add(-time.Duration(since))
			var tally audit.Tally
			if err := store.Between(ctx, from, to, tally.Add); err != nil {
				return err
			}
			m := measured{From: from, To: to, Counts: countsOf(&tally)}
			for _, k := range tally.KPIs() {
				m.KPIs = append(m.KPIs, kpiOf(k))
			}
			return printAnswer(command, *asJSON, m, m.text(since))
		})
	}
	return command
}

// measured is what kpi answers. Its JSON form is stable: names are added, never changed.
type measured struct {
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	KPIs   []kpi     `json:"kpis"`
	Counts counts    `json:"counts"`
}

type kpi struct {
	Name    string        `json:"name"`
	Rule    string        `json:"rule"`
	Measure audit.Measure `json:"measure"`
	// Value is null where there is no data.
	Value   *float64      `json:"value"`
	Bound   audit.Bound   `json:"bound"`
	Target  float64       `json:"target"`
	Verdict audit.Verdict `json:"verdict"`
	// MeasuredOn is how many things Value was measured on, Part how many of them it counts, of a share.
	MeasuredOn int64 `json:"measuredOn"`
	Part       int64 `json:"part,omitempty"`
}

type counts struct {
	Claims      int64 `json:"claims"`
	Decisions   int64 `json:"decisions"`
	Retries     int64 `json:"retries"`
	Exhausted   int64 `json:"maxRetriesExceeded"`
	Permanent   int64 `json:"permanentErrors"`
	Rejected    int64 `json:"rejected"`
	Undelivered int64 `json:"undelivered"`
	Submitted   int64 `json:"submitted"`
	Resubmitted int64 `json:"resubmitted"`
	Abandoned   int64 `json:"abandoned"`
	Redriven    int64 `json:"redriven"`
}

func countsOf(t *audit.Tally) counts {
	return counts{
		Claims: t.Claims(), Decisions: t.Decisions(),
		Retries: t.Count(audit.KindRetry), Exhausted: t.Count(audit.KindExhausted), Permanent: t.Count(audit.KindPermanent),
		Rejected: t.Count(audit.KindRejected), Undelivered: t.Count(audit.KindUndelivered),
		Submitted: t.Count(audit.KindSubmitted), Resubmitted: t.Count(audit.KindResubmitted), Abandoned: t.Count(audit.KindAbandoned),
		Redriven: t.Count(audit.KindRedriven),
	}
}

func kpiOf(k audit.KPI) kpi {
	one := kpi{Name: k.Name, Rule: k.Rule, Measure: k.Measure, Bound: k.Bound, Target: k.Target, Verdict: k.Verdict(), MeasuredOn: k.Of, Part: k.Part}
	if k.Of > 0 {
		one.Value = &k.Value
	}
	return one
}

var kpiWords = map[string]string{
	"successAfterRetry": "success after retry", "meanTimeToSuccess": "mean time to success",
	"medianTimeToSuccess": "median time to success", "permanentErrors": "permanent errors",
	"retriesUsedUp": "retries used up", "claimsLost": "claims lost", "meanAttemptsToSuccess": "mean attempts to success",
}

func (m measured) text(since span) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The last %s, from %s to %s\n\n", since.String(), utc(m.From), utc(m.To))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KPI\tRULE\tTARGET\tMEASURED\tON\tVERDICT")
	for _, k := range m.KPIs {
		value, on := "-", "-"
		if k.Value != nil {
			value, on = k.figure(*k.Value), k.on()
		}
		fmt.Fprintf(w, "%s\t%s\t%s %s\t%s\t%s\t%s\n", kpiWords[k.Name], k.Rule, k.Bound, k.goal(), value, on, k.Verdict)
	}
	_ = w.Flush() // a strings.Builder takes everything
	c := m.Counts
	fmt.Fprintf(&b, "\n%s about %s: %s %d, %s %d, %s %d.\n", count(int(c.Decisions), "decision"), count(int(c.Claims), "claim"),
		audit.KindRetry, c.Retries, audit.KindExhausted, c.Exhausted, audit.KindPermanent, c.Permanent)
	fmt.Fprintf(&b, "Ends of rounds: %s %d, %s %d, %s %d.\n",
		audit.KindSubmitted, c.Submitted, audit.KindResubmitted, c.Resubmitted, audit.KindAbandoned, c.Abandoned)
	fmt.Fprintf(&b, "Sent again before their time: %s %d.\n", audit.KindRedriven, c.Redriven)
	fmt.Fprintf(&b, "Rejected inputs: %d. Answers that did not reach the process: %d.\n", c.Rejected, c.Undelivered)
	return b.String()
}

// figure words a value in its measure, and goal the target, which is a round number.
func (k kpi) figure(value float64) string {
	switch k.Measure {
	case audit.Share:
		return fmt.Sprintf("%.1f %%", 100*value)
	case audit.Seconds:
		return lapse(time.Duration(value * float64(time.Second)))
	case audit.Number:
		return fmt.Sprintf("%.2f", value)
	default:
		return fmt.Sprint(value)
	}
}

func (k kpi) goal() string {
	switch k.Measure {
	case audit.Share:
		return fmt.Sprintf("%.0f %%", 100*k.Target)
	case audit.Seconds:
		return fmt.Sprintf("%.0f min", k.Target/60)
	case audit.Number:
		return fmt.Sprint(k.Target)
	default:
		return fmt.Sprint(k.Target)
	}
}

// on says what the value was measured on, so that a rounded figure beside its target leaves no doubt.
func (k kpi) on() string {
	if k.Measure == audit.Share {
		return fmt.Sprintf("%d of %d", k.Part, k.MeasuredOn)
	}
	return fmt.Sprint(k.MeasuredOn)
}
