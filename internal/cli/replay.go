package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/replay"
	"hospital.example/analyze-retry/internal/retry"
)

func newReplay(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "replay --policy POLICY",
		Short: "Re-run the recorded decisions under another policy",
		Long: `Asks another policy about the decisions of the last days, from the audit store:
which of them it takes otherwise, how many claims it would have saved or lost,
and how many retries it would have wasted.

What it says of single decisions is known: the same question, asked again. What
it says of claims is an estimate, for nobody knows what the insurer would have
answered at a time at which it was not asked. It takes it that

  - until the last recorded failure of a claim every other try fails too;
  - from the try on that the insurer accepted, it accepts any other try;
  - to a claim whose retries were used up the insurer is open again when it
    accepts that claim later, or another one with the same trouble: one that
    failed last by the same rule, while this one was failing. The store does
    not know which insurer it was;
  - nobody has corrected anything in between.

Hints and overrides of a job are asked again with it. The texts in the store are
without personal data and cut, and a job's own retryUntil is not in it. It
changes nothing and works beside a running worker.`,
		Example: `  worker replay --policy slow.yaml --since 30d
  worker replay --policy tiss --of tiss     # what the present tiss would change
  worker replay --policy policies.yaml:slow --json | jq .rounds.savedOthers`,
		Args: noArgs,
	}
	since := span(30 * day)
	var named, of string
	flags := command.Flags()
	flags.StringVar(&named, "policy", "", policyHelp)
	flags.StringVar(&of, "of", "", "only decisions of the policy of this name (default all)")
	flags.Var(&since, "since", "how far back to read, as 7d, 24h or 90m")
	asJSON := flags.Bool("json", false, "print one JSON object")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if named == "" {
			return usageError{errors.New("--policy is missing: name the policy to replay under, such as --policy tiss")}
		}
		p, err := policyByName(command.Context(), named)
		if err != nil {
			return err
		}
		return ask(command, func(ctx context.Context, _ config.Config, store audit.Store) error {
			to := now().UTC()
			from := to.Add(-time.Duration(since))
			again := replay.New(p, of)
			draw, clearBar := barOn(command.ErrOrStderr(), "replaying")
			err := store.Between(ctx, from, to, func(r *audit.Record) error {
				draw(float64(r.At.Sub(from)) / float64(to.Sub(from)))
				return again.Add(r)
			})
			clearBar()
			if err != nil {
				return err
			}
			answer := replayedOf(p, again)
			answer.From, answer.To, answer.Of = from, to, of
			return printAnswer(command, *asJSON, answer, answer.text(since))
		})
	}
	return command
}

// replayed is what replay answers. Its JSON form is stable: names are added, never changed.
type replayed struct {
	Policy        string    `json:"policy"`
	PolicyVersion string    `json:"policyVersion"`
	Of            string    `json:"of,omitempty"`
	From          time.Time `json:"from"`
	To            time.Time `json:"to"`
	// Decisions is known, Rounds estimated but for the names that say otherwise.
	Decisions replayedDecisions `json:"decisions"`
	Rounds    replayedRounds    `json:"rounds"`
}

type replayedDecisions struct {
	Replayed     int           `json:"replayed"`
	Refused      int           `json:"invalidInput"`
	Outcome      int           `json:"otherOutcome"`
	Class        int           `json:"otherClass"`
	Wait         int           `json:"otherWaitBeforeJitter"`
	OwnPolicy    int           `json:"ofThisVersion"`
	OwnOtherwise int           `json:"ofThisVersionOtherwise"`
	Rows         []replayedRow `json:"byRule"`
}

type replayedRow struct {
	Decisions int             `json:"decisions"`
	Before    replayedVerdict `json:"before"`
	After     replayedVerdict `json:"after"`
	Claims    []string        `json:"exampleClaims"`
}

type replayedVerdict struct {
	RuleID         string      `json:"ruleId"`
	Classification retry.Class `json:"errorClassification"`
	Outcome        string      `json:"outcome"`
	// MeanWait is absent where not both are retries.
	MeanWait float64 `json:"meanWaitSeconds,omitempty"`
}

// replayedRounds has the names and meanings of [replay.Rounds].
type replayedRounds struct {
	Judged    int `json:"judged"`
	Accepted  int `json:"accepted"`
	Exhausted int `json:"exhausted"`
	Permanent int `json:"permanent"`

	SavedOwn    int      `json:"savedOwn"`
	SavedOthers int      `json:"savedOthers"`
	Retried     int      `json:"permanentTriedAgain"`
	LostByRule  int      `json:"lostByRuleKnown"`
	LostByTime  int      `json:"lostByTime"`
	Saved       []string `json:"exampleSaved,omitempty"`
	Lost        []string `json:"exampleLost,omitempty"`

	Tries      int `json:"retries"`
	Wasted     int `json:"wastedRetries"`
	Needless   int `json:"needlessRetriesKnown"`
	TriesThen  int `json:"retriesThen"`
	WastedThen int `json:"wastedRetriesThen"`

	Open   int `json:"notJudgedOpen"`
	Cut    int `json:"notJudgedCut"`
	ByHand int `json:"notJudgedByHand"`
}

func replayedOf(p *retry.Policy, again *replay.Replay) *replayed {
	d, r := again.Decisions(), again.Rounds()
	answer := &replayed{
		Policy: p.Name, PolicyVersion: p.Version(),
		Decisions: replayedDecisions{
			Replayed: d.Replayed, Refused: d.Refused, Outcome: d.Outcome, Class: d.Class, Wait: d.Wait,
			OwnPolicy: d.OwnPolicy, OwnOtherwise: d.OwnOtherwise, Rows: []replayedRow{}, // in JSON a list, even where it is empty
		},
		Rounds: replayedRounds{
			Judged: r.Judged, Accepted: r.Accepted, Exhausted: r.Exhausted, Permanent: r.Permanent,
			SavedOwn: r.SavedOwn, SavedOthers: r.SavedOthers, Retried: r.Retried, LostByRule: r.LostByRule, LostByTime: r.LostByTime,
			Saved: r.Saved, Lost: r.Lost,
			Tries: r.Tries, Wasted: r.Wasted, Needless: r.Needless, TriesThen: r.TriesThen, WastedThen: r.WastedThen,
			Open: r.Open, Cut: r.Cut, ByHand: r.ByHand,
		},
	}
	for _, row := range d.Rows {
		answer.Decisions.Rows = append(answer.Decisions.Rows, replayedRow{
			row.Decisions, verdictOf(row.Before, row.WaitBefore), verdictOf(row.After, row.WaitAfter), row.Claims,
		})
	}
	return answer
}

func verdictOf(v replay.Verdict, wait time.Duration) replayedVerdict {
	return replayedVerdict{v.Rule, v.Class, v.Outcome.String(), wait.Seconds()}
}
