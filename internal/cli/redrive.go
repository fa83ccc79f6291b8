package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/redrive"
	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

func newRedrive(now clock) *cobra.Command {
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
		Args:    noArgs,
	}
	var o redriveFlags
	o.define(command)
	withCredentials(command)
	command.RunE = func(command *cobra.Command, _ []string) error {
		if err := o.check(command); err != nil {
			return usageError{err}
		}
		return withStore(command, func(ctx context.Context, cfg config.Config, store audit.Store) (err error) {
			sender, err := app.NewRedriver(cfg)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, sender.Close()) }()
			if o.operator = cmp.Or(o.operator, cfg.Operator); o.operator == "" && !o.dryRun {
				return usageError{errors.New("who orders it? Give --operator NAME, or set RETRY_OPERATOR")}
			}
			r := redrive.Redriver{
				Store: store, Send: sender.Send, Now: now, Force: o.force, Timeout: redriveTimeout,
				Order: redrive.Order{Justification: o.reason, DecidedBy: o.operator},
			}
			if o.wait {
				known, err := knownPolicies(ctx, "")
				if err != nil {
					return err
				}
				r.Backoff = backoffBy(known)
			}
			if o.claim != "" {
				return o.one(ctx, command, &r)
			}
			return o.many(ctx, command, &r)
		})
	}
	return withJSON(command, "print one JSON object")
}

// backoffBy returns how long these policies have a stopped claim wait before its next try, with what its task or job had changed.
func backoffBy(known *policy.Set) func(*redrive.Claim) (time.Duration, error) {
	return func(c *redrive.Claim) (time.Duration, error) {
		p, is := known.Get(c.Policy)
		if !is {
			return 0, fmt.Errorf("its policy %s is not known here: "+
				"set RETRY_POLICIES_FILE as for the worker, or send it without --wait", c.Policy)
		}
		if overrides := c.Facts.RetryDecision.Overrides; overrides != nil {
			o, err := overrides.Rule()
			if err != nil {
				return 0, err
			}
			if p, err = p.With(o); err != nil {
				return 0, fmt.Errorf("its policy does not take its overrides any more: %w", err)
			}
		}
		return p.Backoff(retry.Request{
			ClaimID:            c.ClaimID,
			RetryCount:         c.RetryCount,
			ProcessInstanceKey: c.ProcessInstanceKey,
		}), nil
	}
}

// one sends one claim again, or prints what would be done.
func (o *redriveFlags) one(ctx context.Context, command *cobra.Command, r *redrive.Redriver) error {
	act := r.One
	if o.dryRun {
		act = r.Look
	}
	c := act(ctx, o.claim)
	switch {
	case asJSON(command):
		return errors.Join(printJSON(command, c), c.Err)
	case c.Err != nil:
		return c.Err
	default:
		return printText(command, report.RedriveText(&c))
	}
}

// many sends the chosen claims again: it lists them, asks, and prints what became of each.
func (o *redriveFlags) many(ctx context.Context, command *cobra.Command, r *redrive.Redriver) error {
	claims, err := r.Choose(ctx, *o.since, o.filter)
	if err != nil {
		return err
	}
	answer := report.Redrive{DryRun: o.dryRun, Selected: len(claims), Claims: claims}
	show := func(s string) {
		if !asJSON(command) {
			_ = printText(command, s)
		}
	}
	show(answer.Preview(*o.since))
	if planned := answer.Count(redrive.Planned); !o.dryRun && planned > 0 {
		when := "now"
		if o.wait {
			when = "after a wait"
		}
		question := fmt.Sprintf("Send %s again %s, at most %d a minute?", text.Count(planned, "claim"), when, o.rate)
		if !o.yes && !confirm(ctx, command.InOrStdin(), command.ErrOrStderr(), question) {
			return errors.New("nothing was sent")
		}
		of := "of " + text.Count(planned, "claim") + " ordered"
		r.All(ctx, claims, time.Minute/time.Duration(o.rate), func(n int) { progress(command.ErrOrStderr(), of, int64(n)) })
		progress(command.ErrOrStderr(), "", 0)
		show("\n" + answer.Results())
	}
	answer.Done = answer.Count(redrive.Done)
	answer.NotDone = answer.Selected - answer.Done
	show(answer.Summary())
	if asJSON(command) {
		err = printJSON(command, answer)
	}
	if !o.dryRun && answer.NotDone > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %s not sent again", answer.NotDone, text.Count(answer.Selected, "claim")))
	}
	return err
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

// redriveTimeout is how long the record of an order is waited for: a gateway that missed a notification looks for jobs again
// after 10 s. A test shortens it.
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
	o.since = sinceFlag(command, "7d", "how far back to look")
	flags.IntVar(&o.rate, "rate", 600, "orders a minute at most")
	flags.BoolVar(&o.dryRun, "dry-run", false, "show what would be sent again, and what not")
	flags.BoolVar(&o.yes, "yes", false, "do not ask for confirmation")
	command.MarkFlagsOneRequired("claim", "rule", "policy", "status")
	for _, name := range []string{"rule", "policy", "status", "since", "rate", "yes"} { // those of several claims
		command.MarkFlagsMutuallyExclusive("claim", name)
	}
}

// check returns all that is wrong with the values of the flags at once, and completes them. Reason and operator are kept for
// years, and the process gets them; who ordered is kept as given, because audit must be able to name that user.
func (o *redriveFlags) check(command *cobra.Command) error {
	var wrong faults
	given := command.Flags().Changed
	for _, name := range []string{"claim", "rule", "policy", "reason", "operator"} {
		wrong.when(given(name) && strings.TrimSpace(command.Flag(name).Value.String()) == "", "--%s is empty", name)
	}
	wrong.when(!given("reason") && !o.dryRun, "--reason is missing; say why, it is kept in the audit trail")
	wrong.when(given("status") && !slices.Contains(redrive.Statuses(), o.filter.Status),
		"--status is %q; allowed: %s", o.filter.Status, strings.Join(redrive.Statuses(), ", "))
	wrong.when(o.rate < 1 || o.rate > 60_000, "--rate is %d; allowed: 1 to 60000", o.rate)
	wrong.when(!given("claim") && !o.yes && !o.dryRun && !isTerminal(command.InOrStdin()),
		"there is no terminal to ask at: look at it with --dry-run, then give --yes")
	n := utf8.RuneCountInString(o.reason)
	wrong.when(n > contract.MaxJustification, "--reason has %d characters; allowed: %d", n, contract.MaxJustification)
	n = utf8.RuneCountInString(o.operator)
	wrong.when(n > contract.MaxDecidedBy, "--operator has %d characters; allowed: %d", n, contract.MaxDecidedBy)
	wrong.when(strings.ContainsFunc(o.operator, unicode.IsControl), "--operator has a control character, such as a line break")
	if kept := redact.Text(o.reason); kept != o.reason {
		o.reason = kept
		complain(command.ErrOrStderr(), "worker: the reason has words or numbers that may be about a person; it is kept as: %s", text.Line(kept))
	}
	return errors.Join(wrong...)
}
