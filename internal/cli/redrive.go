package cli

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/redact"
)

func newRedrive(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "redrive",
		Short: "Send claims again now, by a person's order and with a reason",
		Long: `Sends a claim again now that waits for its next retry, or for a person because
its retries are used up or its error is permanent. With --claim it is one claim;
with --class, --rule, --policy or --status it is all claims whose last decision
fits. They are listed first, and asked about.

The order goes to the claim's process as the message redrive-claim, and counts
as done when the worker has recorded it in the audit trail, with the reason and
the operator. A message that no process waits for is not kept for later.

The reason must hold no patient data. What is recognised as such is taken out.

A claim is refused where
  - nothing is known of it (job_not_found);
  - its retries are used up (max_retries_exceeded), unless --force is given;
  - its error is permanent (invalid_retry_state), unless --force is given: wrong
    data fails again, and a duplicate may be billed twice;
  - it is accepted, given up or on its way already, an incident is open, or
    nothing was recorded within --wait (invalid_retry_state).`,
		Example: `  worker redrive --claim CLM-001-7 --reason "insurer is back"
  worker redrive --claim CLM-001-7 --reason "data corrected" --force
  worker redrive --class UNKNOWN --since 7d --reason "gateway mended" --dry-run
  worker redrive --status exhausted --rule transient.503 --force --rate 30/m \
    --reason "insurer is back after two days" --yes --json | jq .notDone`,
		Args: noArgs,
	}
	o := redriveOptions{since: span(7 * day), rate: rate{"10/s", time.Second / 10}, wait: 10 * time.Second}
	o.define(command.Flags())
	command.RunE = func(command *cobra.Command, _ []string) error {
		if err := o.check(command); err != nil {
			return usageError{err}
		}
		return ask(command, func(ctx context.Context, cfg config.Config, store audit.Store) (err error) {
			sender, err := app.NewRedriver(cfg)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, sender.Close()) }()
			r := redriving{
				store: store, sender: sender, now: now, where: cfg.DatabaseURL.String(),
				order: app.Redrive{Justification: o.reason, Operator: o.operator}, force: o.force, wait: o.wait,
			}
			if o.claim != "" {
				return o.one(ctx, command, &r)
			}
			return o.many(ctx, command, &r)
		})
	}
	return command
}

// redriveOptions are what the command line says.
type redriveOptions struct {
	claim, reason, operator string
	filter                  redriveFilter
	since                   span
	rate                    rate
	wait                    time.Duration
	force, dryRun, yes      bool
	asJSON                  bool
}

// redriveFilter chooses claims by their last decision; what is empty chooses all.
type redriveFilter struct{ class, rule, policy, status string }

const maxRedriveWait = 10 * time.Minute

var (
	redriveStatuses = []string{"exhausted", "permanent", "waiting", "overdue"}
	redriveClasses  = []string{"TRANSIENT", "UNKNOWN", "PERMANENT"}
	// bulkOnly are the flags that mean nothing with --claim, choosers those that choose claims.
	bulkOnly = []string{"class", "rule", "policy", "status", "since", "rate", "yes"}
	choosers = bulkOnly[:4]
)

func (o *redriveOptions) define(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVar(&o.claim, "claim", "", "the claim to send again")
	flags.StringVar(&o.reason, "reason", "", "why; required, at most 500 characters, no patient data")
	flags.StringVar(&o.operator, "operator", "", "who orders it (default the system user)")
	flags.BoolVar(&o.force, "force", false, "also with retries used up or a permanent error")
	flags.StringVar(&o.filter.class, "class", "", "by class of the error: UNKNOWN, TRANSIENT, PERMANENT")
	flags.StringVar(&o.filter.rule, "rule", "", "by rule that the error fell under")
	flags.StringVar(&o.filter.policy, "policy", "", "by policy that decided")
	flags.StringVar(&o.filter.status, "status", "", "by status: exhausted, permanent, waiting, overdue")
	flags.Var(&o.since, "since", "how far back to look, as 7d, 24h or 90m")
	flags.Var(&o.rate, "rate", "how many at most, as 10/s, 30/m, 100/h")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only say what would be sent again, and what not")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	flags.DurationVar(&o.wait, "wait", o.wait, "how long to wait for the record of each")
	flags.BoolVar(&o.asJSON, "json", false, "print one JSON object")
}

// check returns all that is wrong with the options at once, and completes them.
func (o *redriveOptions) check(command *cobra.Command) error {
	faults := append(o.checkChoice(command), o.checkOrder(command)...)
	if o.wait <= 0 || o.wait > maxRedriveWait {
		faults = append(faults, fmt.Errorf("--wait is %s; allowed: more than 0, at most %s", o.wait, maxRedriveWait))
	}
	return errors.Join(faults...)
}

func (o *redriveOptions) checkChoice(command *cobra.Command) (faults []error) {
	given := func(name string) bool { return command.Flags().Changed(name) }
	if given("claim") {
		if strings.TrimSpace(o.claim) == "" {
			faults = append(faults, errors.New("--claim is empty"))
		}
		for _, name := range bulkOnly {
			if given(name) {
				faults = append(faults, fmt.Errorf("--claim and --%s exclude each other", name))
			}
		}
		return faults
	}
	if !slices.ContainsFunc(choosers, given) {
		faults = append(faults, errors.New("which claims? give --claim, or choose some with --class, --rule, --policy or --status"))
	}
	for _, c := range []struct {
		flag, value string
		allowed     []string
	}{{"class", o.filter.class, redriveClasses}, {"status", o.filter.status, redriveStatuses}} {
		if given(c.flag) && !slices.Contains(c.allowed, c.value) {
			faults = append(faults, fmt.Errorf("--%s is %q; allowed: %s", c.flag, c.value, strings.Join(c.allowed, ", ")))
		}
	}
	for _, name := range []string{"rule", "policy"} {
		if given(name) && command.Flag(name).Value.String() == "" {
			faults = append(faults, fmt.Errorf("--%s is empty", name))
		}
	}
	if !o.yes && !o.dryRun && !isTerminal(command.InOrStdin()) {
		faults = append(faults, errors.New("there is no terminal to ask at: look at it with --dry-run, then give --yes"))
	}
	return faults
}

// checkOrder looks at the reason and at who orders it. Both are kept for years, and the process gets them.
func (o *redriveOptions) checkOrder(command *cobra.Command) (faults []error) {
	switch n := utf8.RuneCountInString(o.reason); {
	case o.dryRun && o.reason == "":
	case strings.TrimSpace(o.reason) == "":
		faults = append(faults, errors.New("--reason is empty; say why, it is kept in the audit trail"))
	case n > contract.MaxJustification:
		faults = append(faults, fmt.Errorf("--reason has %d characters; allowed: %d", n, contract.MaxJustification))
	}
	if kept := redact.Text(o.reason); kept != o.reason {
		o.reason = kept
		complain(command.ErrOrStderr(), "worker: the reason holds personal data; it is kept as: %s", plain(kept))
	}
	if !command.Flags().Changed("operator") {
		if who, err := user.Current(); err == nil {
			o.operator = who.Username
		}
	}
	switch n := utf8.RuneCountInString(o.operator); {
	case strings.TrimSpace(o.operator) == "":
		faults = append(faults, errors.New("--operator is empty; say who orders it"))
	case n > contract.MaxOperator:
		faults = append(faults, fmt.Errorf("--operator has %d characters; allowed: %d", n, contract.MaxOperator))
	case redact.Text(o.operator) != o.operator:
		faults = append(faults, fmt.Errorf("--operator would be kept as %s; give a user name", redact.Text(o.operator)))
	}
	return faults
}

// rate is a flag for how many things may begin in a time: 10/s, 30/m or 100/h.
type rate struct {
	text string
	// every is the time between two.
	every time.Duration
}

var rateUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}

// leastEvery is the shortest time between two that a rate may ask for.
const leastEvery = time.Millisecond

// Set reads the notation.
func (r *rate) Set(text string) error {
	number, name, _ := strings.Cut(text, "/")
	n, err := strconv.ParseUint(number, 10, 16)
	unit, known := rateUnits[name]
	if err != nil || !known || n == 0 || unit/time.Duration(n) < leastEvery {
		return errors.New("give a number for each second, minute or hour, such as 10/s, 30/m or 100/h, at most 1000/s")
	}
	r.text, r.every = text, unit/time.Duration(n)
	return nil
}

// String is the notation as it was given.
func (r *rate) String() string { return r.text }

// Type names the notation in the help.
func (r *rate) Type() string { return "rate" }
