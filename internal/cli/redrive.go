package cli

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"runtime"
	"slices"
	"strconv"
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
			if err := o.completeOperator(cfg); err != nil {
				return usageError{err}
			}
			r := redrive.Redriver{
				Store: store, Send: sender.Send, Now: now, Force: o.force, Timeout: redriveTimeout,
				Order: redrive.Order{Justification: o.reason, DecidedBy: o.operator},
			}
			if o.wait {
				known, err := knownPolicies(ctx, cfg.PoliciesFile)
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
			ProcessInstanceKey: c.Last.ProcessInstanceKey,
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
		return printText(command, report.RedriveText(&c, r.Order, r.Now()))
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
		question := fmt.Sprintf("Send %s again %s, at most %s?", text.Count(planned, "claim"), when, command.Flag("rate").Value)
		if !o.yes && !confirm(ctx, command.InOrStdin(), command.ErrOrStderr(), question) {
			return errors.New("nothing was sent")
		}
		progress := newProgress(command.ErrOrStderr())
		r.All(ctx, claims, o.every, func(n int) { progress.Show("%d of %s ordered", n, text.Count(planned, "claim")) })
		progress.Clear()
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
	every                   time.Duration
	force, wait             bool
	dryRun, yes             bool
}

// redriveTimeout is how long the record of an order is waited for: a gateway that missed a notification looks for jobs again
// after 10 s. A test shortens it.
var redriveTimeout = 15 * time.Second

var (
	// bulkOnly are the flags that mean nothing with --claim, choosers those that choose claims.
	bulkOnly = []string{"rule", "policy", "status", "since", "rate", "yes"}
	choosers = bulkOnly[:3]
)

func (o *redriveFlags) define(command *cobra.Command) {
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.claim, "claim", "", "the claim to send again")
	flags.StringVar(&o.reason, "reason", "", "why, required: up to 500 characters, no patient data")
	flags.StringVar(&o.operator, "operator", "", "who orders it (default RETRY_OPERATOR, else the\nsystem user where that is a person)")
	flags.BoolVar(&o.force, "force", false, "also with retries used up or a permanent error")
	flags.BoolVar(&o.wait, "wait", false, "keep schedule and count: wait as the policy says")
	flags.StringVar(&o.filter.Rule, "rule", "", "choose by the rule of the error, or the code it found")
	flags.StringVar(&o.filter.Policy, "policy", "", "choose by the policy that decided")
	flags.StringVar(&o.filter.Status, "status", "", "choose by: exhausted, permanent, waiting, overdue")
	o.since = sinceFlag(command, "7d", "how far back to look")
	rateFlag(command, &o.every)
	flags.BoolVar(&o.dryRun, "dry-run", false, "show what would be sent again, and what not")
	flags.BoolVar(&o.yes, "yes", false, "do not ask for confirmation")
}

// check returns all that is wrong with the flags at once, and completes them.
func (o *redriveFlags) check(command *cobra.Command) error {
	var wrong faults
	o.checkChoice(command, &wrong)
	o.checkOrder(command, &wrong)
	return errors.Join(wrong...)
}

func (o *redriveFlags) checkChoice(command *cobra.Command, wrong *faults) {
	given := command.Flags().Changed
	if given("claim") {
		wrong.when(strings.TrimSpace(o.claim) == "", "--claim is empty")
		for _, name := range bulkOnly {
			wrong.when(given(name), "--claim and --%s exclude each other", name)
		}
		return
	}
	wrong.when(!slices.ContainsFunc(choosers, given), "which claims? give --claim, or choose some with --rule, --policy or --status")
	wrong.when(given("status") && !slices.Contains(redrive.Statuses(), o.filter.Status),
		"--status is %q; allowed: %s", o.filter.Status, strings.Join(redrive.Statuses(), ", "))
	wrong.when(given("rule") && o.filter.Rule == "", "--rule is empty")
	wrong.when(given("policy") && o.filter.Policy == "", "--policy is empty")
	wrong.when(!o.yes && !o.dryRun && !isTerminal(command.InOrStdin()), "there is no terminal to ask at: look at it with --dry-run, then give --yes")
}

// checkOrder checks the reason and the operator. Both are kept for years, and the process gets them.
func (o *redriveFlags) checkOrder(command *cobra.Command, wrong *faults) {
	n := utf8.RuneCountInString(o.reason)
	wrong.when(strings.TrimSpace(o.reason) == "" && (o.reason != "" || !o.dryRun), "--reason is empty; say why, it is kept in the audit trail")
	wrong.when(n > contract.MaxJustification, "--reason has %d characters; allowed: %d", n, contract.MaxJustification)
	if kept := redact.Text(o.reason); kept != o.reason {
		o.reason = kept
		complain(command.ErrOrStderr(), "worker: the reason has words or numbers that may be about a person; it is kept as: %s", text.Line(kept))
	}
	if command.Flags().Changed("operator") {
		checkOperator("--operator", o.operator, wrong)
	}
}

// checkOperator checks a name that source gives. Who ordered is kept as given: audit must be able to name
// that user.
func checkOperator(source, name string, wrong *faults) {
	n := utf8.RuneCountInString(name)
	wrong.when(strings.TrimSpace(name) == "", "%s is empty; say who orders it", source)
	wrong.when(n > contract.MaxDecidedBy, "%s has %d characters; allowed: %d", source, n, contract.MaxDecidedBy)
	wrong.when(strings.ContainsFunc(name, unicode.IsControl),
		"%s has a control character, such as a line break", source)
}

// completeOperator takes the operator from the settings or from the system where no flag names one. A dry run orders nothing,
// and needs none.
func (o *redriveFlags) completeOperator(cfg config.Config) error {
	if o.operator != "" || o.dryRun {
		return nil
	}
	var wrong faults
	if o.operator = cfg.Operator; o.operator != "" {
		checkOperator("RETRY_OPERATOR", o.operator, &wrong)
		return errors.Join(wrong...)
	}
	who, err := user.Current()
	if err != nil {
		return fmt.Errorf("who orders it? The system user is not known (%w): give --operator NAME, or set RETRY_OPERATOR", err)
	}
	if !isPerson(who) {
		return fmt.Errorf("who orders it? The system user %s may be anybody: give --operator NAME, or set RETRY_OPERATOR to your name", who.Username)
	}
	o.operator = who.Username
	checkOperator("the system user's name", o.operator, &wrong)
	return errors.Join(wrong...)
}

// isPerson reports whether an account of the system is of the kind that people sign in with, and neither root nor made for a
// service.
func isPerson(u *user.User) bool {
	const (
		firstOnLinux, firstOnMacOS = 1000, 500
		// What is between these, such as 65534 (nobody), is for systemd, containers and the like. Directories number people
		// above them.
		lastLocal, lastReserved = 60000, 65535
	)
	if strings.HasPrefix(u.Uid, "S-") { // Windows: SYSTEM, LOCAL SERVICE and NETWORK SERVICE
		return !slices.Contains([]string{"S-1-5-18", "S-1-5-19", "S-1-5-20"}, u.Uid)
	}
	first := firstOnLinux
	if runtime.GOOS == "darwin" {
		first = firstOnMacOS
	}
	uid, err := strconv.Atoi(u.Uid)
	return err == nil && uid >= first && (uid <= lastLocal || uid > lastReserved)
}
