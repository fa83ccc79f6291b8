package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/claims/redrive"
	"hospital.example/analyze-retry/internal/cli/report"
	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

func (p *program) redrive() *cobra.Command {
	command := &cobra.Command{
		Use:   "redrive",
		Short: "Send claims again now, by a person's order and with a reason",
		Long: `Sends a claim again now that waits for its next retry, or for a person because
it is stopped: one by --claim, or after a question all whose last decision fits
--rule, --policy or --status. The reason and the operator are kept; the reason
must hold no patient data. With --wait a stopped claim keeps its schedule.

A claim is refused with the exit code 3 if nothing is known of it, 4 if its
retries are used up, 5 in another state; --force overrules 4 and a permanent
error. Of several claims not all sent again is exit code 1.`,
		Example: `  worker redrive --status exhausted --force --reason "insurer is back" --dry-run`,
	}
	var o redriveFlags
	o.define(command)
	return p.answers(withCredentials(command), aStore, func(c *call) (_ any, _ string, err error) {
		if err := o.check(c); err != nil {
			return nil, "", usageError{err}
		}
		if o.operator = cmp.Or(o.operator, c.cfg.Operator); o.operator == "" && !o.dryRun {
			return nil, "", usageError{errors.New("--operator is missing, and so is RETRY_OPERATOR")}
		}
		sender, err := app.NewRedriver(c.cfg)
		if err != nil {
			return nil, "", err
		}
		defer func() { err = errors.Join(err, sender.Close()) }()
		r := redrive.Redriver{
			Store:   c.store,
			Send:    sender.Send,
			Now:     p.now,
			Force:   o.force,
			Timeout: redriveTimeout,
			Order:   redrive.Order{Justification: o.reason, DecidedBy: o.operator},
		}
		if o.wait {
			set, err := policies("")
			if err != nil {
				return nil, "", err
			}
			r.Backoff = backoffBy(set)
		}
		if o.claim != "" {
			return o.one(c, &r)
		}
		return o.many(c, &r)
	})
}

// backoffBy returns how long these policies have a stopped claim wait before its next try, with what its task
// had changed.
func backoffBy(known *policy.Set) func(*redrive.Claim) (time.Duration, error) {
	return func(c *redrive.Claim) (time.Duration, error) {
		p, is := known.Get(c.Policy)
		if !is {
			return 0, fmt.Errorf("its policy %s is not known here: "+
				"set RETRY_POLICIES_FILE as for the worker, or send it without --wait", c.Policy)
		}
		p, err := p.With(c.Facts.RetryDecision.Overrides)
		if err != nil {
			return 0, fmt.Errorf("its policy does not take its overrides any more: %w", err)
		}
		return p.Backoff(retry.Request{
			ClaimID:            c.ClaimID,
			RetryCount:         c.RetryCount,
			ProcessInstanceKey: c.ProcessInstanceKey,
		}), nil
	}
}

// one redrives a single claim, or with --dry-run shows what would happen.
func (o *redriveFlags) one(c *call, r *redrive.Redriver) (any, string, error) {
	act := r.One
	if o.dryRun {
		act = r.Look
	}
	claim := act(c.Context(), o.claim)
	if claim.Err != nil {
		return claim, "", claim.Err
	}
	return claim, report.RedriveText(&claim), nil
}

// many redrives the chosen claims: it lists them, asks for confirmation, and prints the result of each.
func (o *redriveFlags) many(c *call, r *redrive.Redriver) (any, string, error) {
	chosen, err := r.Choose(c.Context(), *o.since, o.filter)
	if err != nil {
		return nil, "", err
	}
	answer := report.Redrive{DryRun: o.dryRun, Selected: len(chosen), Claims: chosen}
	if !c.json {
		if err := c.say(answer.Preview(*o.since)); err != nil {
			return nil, "", err
		}
	}
	var words string
	if planned := answer.Count(redrive.Planned); !o.dryRun && planned > 0 {
		question := fmt.Sprintf("Send %s again, at most %d a minute?", text.Count(planned, "claim"), o.rate)
		if !o.yes && !confirm(c, question) {
			return nil, "", errors.New("nothing was sent")
		}
		of := "of " + text.Count(planned, "claim") + " ordered"
		show := func(given int) { c.progress(int64(given), of) }
		r.All(c.Context(), chosen, time.Minute/time.Duration(o.rate), show)
		c.progress(0, "")
	}
	if !o.dryRun && len(chosen) > 0 {
		words = "\n" + answer.Results()
	}
	answer.Done = answer.Count(redrive.Done)
	answer.NotDone = answer.Selected - answer.Done
	if !o.dryRun && answer.NotDone > 0 {
		err = fmt.Errorf("%d of %s not sent again", answer.NotDone, text.Count(answer.Selected, "claim"))
	}
	return answer, words + answer.Summary(), err
}

// redriveFlags are the flags.
type redriveFlags struct {
	claim, reason, operator string
	filter                  redrive.Filter
	since                   *time.Duration
	rate                    int
	force, wait             bool
	dryRun, yes             bool
}

// redriveTimeout is how long the record of an order is waited for: a gateway that missed a notification looks
// for jobs again after 10 s. A test shortens it.
var redriveTimeout = 15 * time.Second

func (o *redriveFlags) define(command *cobra.Command) {
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.claim, "claim", "", "the claim to send again")
	flags.StringVar(&o.reason, "reason", "", "why, required: up to 500 characters, no patient data")
	flags.StringVar(&o.operator, "operator", "", "who orders it, required (default RETRY_OPERATOR)")
	flags.BoolVar(&o.force, "force", false, "also with retries used up or a permanent error")
	flags.BoolVar(&o.wait, "wait", false, "keep schedule and count: wait as the policy says")
	flags.StringVar(&o.filter.Rule, "rule", "", "choose by the rule of the error, or the code it found")
	flags.StringVar(&o.filter.Policy, "policy", "", "choose by the policy that decided")
	flags.StringVar(&o.filter.Status, "status", "", "choose by: exhausted, permanent, waiting, overdue")
	o.since = spanFlag(flags, "since", "7d", "how far back to look")
	flags.IntVar(&o.rate, "rate", 600, "orders a minute at most")
	flags.BoolVar(&o.dryRun, "dry-run", false, "show what would be sent again, and what not")
	flags.BoolVar(&o.yes, "yes", false, "do not ask for confirmation")
	command.MarkFlagsOneRequired("claim", "rule", "policy", "status")
	for _, name := range []string{"rule", "policy", "status", "since", "rate", "yes"} { // of several claims
		command.MarkFlagsMutuallyExclusive("claim", name)
	}
}

// check returns all that is wrong with the values of the flags at once, and completes them. Reason and
// operator are kept for years; who ordered as given, because audit must be able to name that user.
func (o *redriveFlags) check(c *call) error {
	var wrong faults
	given := c.Flags().Changed
	for _, name := range []string{"claim", "rule", "policy", "reason", "operator"} {
		wrong.when(given(name) && strings.TrimSpace(c.Flag(name).Value.String()) == "", "--%s is empty", name)
	}
	wrong.when(!given("reason") && !o.dryRun, "--reason is missing; say why, it is kept in the audit trail")
	wrong.when(given("status") && !slices.Contains(redrive.Statuses(), o.filter.Status),
		"--status is %q; allowed: %s", o.filter.Status, strings.Join(redrive.Statuses(), ", "))
	wrong.when(o.rate < 1 || o.rate > 60_000, "--rate is %d; allowed: 1 to 60000", o.rate)
	wrong.when(!given("claim") && !o.yes && !o.dryRun && !isTerminal(c.InOrStdin()),
		"there is no terminal to ask at: look at it with --dry-run, then give --yes")
	long := func(flag, value string, most int) {
		n := utf8.RuneCountInString(value)
		wrong.when(n > most, "--%s has %d characters; allowed: %d", flag, n, most)
	}
	long("reason", o.reason, contract.MaxJustification)
	long("operator", o.operator, contract.MaxDecidedBy)
	wrong.when(strings.ContainsFunc(o.operator, unicode.IsControl), "--operator has a control character")
	if kept := redact.Text(o.reason); kept != o.reason {
		o.reason = kept
		complain(c.ErrOrStderr(), "worker: what may be about a person is taken out of the reason: %s",
			text.In(text.English).Redacted(kept))
	}
	return errors.Join(wrong...)
}
