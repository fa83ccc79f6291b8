package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/claims/redrive"
	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

func (p *program) redrive() *cobra.Command {
	command := &cobra.Command{
		Use:   "redrive",
		Short: "Send claims again now, by a person's order and with a reason",
		Long: `Plans what would be sent again now: a claim, or those that the last decision
about them chooses. With --reason it sends a claim, or by --plan what the plan,
as --json prints it, lists and nothing became of since. What may have arrived,
as after a time-out, needs --checked: sent twice, a claim is billed twice.

Exit code of --claim where it is refused: 3 if nothing is known of it, 4 if its
retries are used up, 5 in another state.`,
		Example: `  worker redrive --status exhausted --force --json >plan.json`,
	}
	var o redriveFlags
	o.define(command)
	return p.answers(command, aStore, func(c *call) (any, string, error) {
		if err := o.check(c); err != nil {
			return nil, "", usageError{err}
		}
		sender, err := app.NewRedriver(c.cfg)
		if err != nil {
			return nil, "", err
		}
		r := redrive.Redriver{
			Store:   c.store,
			Send:    sender.Send,
			Now:     p.now,
			Force:   o.force || o.plan != "",
			Checked: o.checked || o.plan != "",
			Wait:    *o.wait,
			Timeout: redriveTimeout,
			Order:   redrive.Order{Justification: o.reason, DecidedBy: o.operator},
		}
		answer, words, err := o.carryOut(c, &r)
		return answer, words, errors.Join(err, sender.Close())
	})
}

// carryOut plans what the flags choose, and with a reason sends it again.
func (o *redriveFlags) carryOut(c *call, r *redrive.Redriver) (any, string, error) {
	chosen, from, err := o.choose(c, r)
	if err != nil {
		return nil, "", err
	}
	answer := redriven{Claims: chosen}
	if o.reason != "" {
		planned := answer.Count(redrive.Planned)
		show := func(progress string) {
			if f, is := c.ErrOrStderr().(*os.File); is && term.IsTerminal(int(f.Fd())) {
				fmt.Fprint(f, "\r\x1b[K"+progress)
			}
		}
		r.All(c.Context(), chosen, time.Minute/time.Duration(o.rate), func(given int) {
			show(fmt.Sprintf("%d of %d ordered", given, planned))
		})
		show("")
	}
	missing := len(chosen) - answer.Count(redrive.Done)
	switch {
	case o.claim != "" && chosen[0].Why.Format != "":
		return answer, "", refusal(&chosen[0], c.printer)
	case o.reason == "":
		return answer, answer.Preview(c.printer, from), nil
	case missing > 0:
		err = text.Messagef("%d of %d claims not sent again", missing, len(chosen))
	}
	return answer, answer.Results(c.printer), err
}

// refusal is why a claim is not sent again, as an error that has the exit code of its fault.
func refusal(c *redrive.Claim, printer *text.Printer) error {
	if c.Fault == "" {
		return cmp.Or(c.Err, errors.New(printer.Text(c.Why)))
	}
	return fmt.Errorf("%w: %s", c.Fault, printer.Sprintf("claim %s: %s", c.ClaimID, c.Why))
}

// choose returns the claims that the flags choose, and in words where they are from.
func (o *redriveFlags) choose(c *call, r *redrive.Redriver) ([]redrive.Claim, text.Message, error) {
	switch {
	case o.plan != "":
		plan, err := o.planned()
		return r.Pick(c.Context(), plan), text.Messagef("of the plan"), err
	case o.claim != "":
		return []redrive.Claim{r.Look(c.Context(), o.claim)}, text.Messagef("chosen"), nil
	}
	chosen, err := r.Choose(c.Context(), *o.since, o.filter)
	return chosen, text.Messagef("among the decisions of the last %s", text.Span(*o.since)), err
}

// planned reads the plan.
func (o *redriveFlags) planned() ([]redrive.PlannedClaim, error) {
	var plan struct{ Claims []redrive.PlannedClaim }
	file, err := os.Open(o.plan) // that may be /dev/stdin
	if err == nil {
		err = errors.Join(json.NewDecoder(file).Decode(&plan), file.Close())
	}
	if err != nil {
		err = text.Messagef("reading the plan %s, which redrive --json writes: %s", o.plan, err)
	}
	return plan.Claims, err
}

// redriveFlags are the flags.
type redriveFlags struct {
	claim, plan      string
	reason, operator string
	filter           redrive.Filter
	since, wait      *time.Duration
	rate             int
	force, checked   bool
}

// redriveTimeout is how long the record of an order is waited for: a gateway that missed a notification looks
// for jobs again after 10 s. A test shortens it.
var redriveTimeout = 15 * time.Second

func (o *redriveFlags) define(command *cobra.Command) {
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.claim, "claim", "", "one claim")
	flags.StringVar(&o.plan, "plan", "", "`FILE` with a plan, which --json prints")
	flags.StringVar(&o.reason, "reason", "", "send again, and why: 500 characters, no patient data")
	flags.StringVar(&o.operator, "operator", "", "who orders it (default RETRY_OPERATOR)")
	flags.BoolVar(&o.force, "force", false, "also with retries used up or a permanent error")
	flags.BoolVar(&o.checked, "checked", false, "also what may have arrived: the insurer was asked")
	o.wait = spanFlag(flags, "wait", "", "wait first, in a stopped one's round")
	flags.StringVar(&o.filter.Rule, "rule", "", "choose by the rule of the error, or the code it found")
	flags.StringVar(&o.filter.Policy, "policy", "", "choose by the policy that decided")
	flags.StringVar(&o.filter.Status, "status", "", "choose by: exhausted, permanent, waiting, overdue")
	o.since = spanFlag(flags, "since", "7d", "how far back to look")
	flags.IntVar(&o.rate, "rate", 600, "orders a minute at most")
	command.MarkFlagsOneRequired("claim", "plan", "rule", "policy", "status")
	command.MarkFlagsMutuallyExclusive("claim", "plan")
	command.MarkFlagsMutuallyExclusive("claim", "since")
	for _, name := range []string{"rule", "policy", "status"} { // they plan only
		command.MarkFlagsMutuallyExclusive("claim", name)
		command.MarkFlagsMutuallyExclusive("plan", name)
		command.MarkFlagsMutuallyExclusive("reason", name)
	}
	for _, name := range []string{"since", "force", "checked"} { // a plan has what it was made with
		command.MarkFlagsMutuallyExclusive("plan", name)
	}
}

// check returns all that is wrong with the values of the flags at once, and completes them. Reason and
// operator are kept for years; who ordered as given, because audit must be able to name that user.
func (o *redriveFlags) check(c *call) error {
	var wrong faults
	given := c.Flags().Changed
	for _, name := range []string{"claim", "plan", "rule", "policy", "reason", "operator"} {
		blank := strings.TrimSpace(c.Flag(name).Value.String()) == ""
		wrong.when(given(name) && blank, text.Messagef("--%s is empty", name))
	}
	o.operator = cmp.Or(o.operator, c.cfg.Operator)
	wrong.when(given("reason") && o.operator == "" && !given("operator"),
		text.Messagef("--operator is missing, and so is RETRY_OPERATOR"))
	wrong.when(given("status") && !slices.Contains(redrive.Statuses(), o.filter.Status),
		text.Messagef("--status is %q; allowed: %s", o.filter.Status, strings.Join(redrive.Statuses(), ", ")))
	wrong.when(o.rate < 1 || o.rate > 60_000,
		text.Messagef("--rate is %d; allowed: 1 to 60000", o.rate))
	long := func(flag, value string, most int) {
		n := utf8.RuneCountInString(value)
		wrong.when(n > most, text.Messagef("--%s has %d characters; allowed: %d", flag, n, most))
	}
	long("reason", o.reason, contract.MaxJustification)
	long("operator", o.operator, contract.MaxDecidedBy)
	wrong.when(strings.ContainsFunc(o.operator, unicode.IsControl),
		text.Messagef("--operator has a control character"))
	if kept := redact.Text(o.reason); kept != o.reason {
		o.reason = kept
		complain(c.ErrOrStderr(), "worker: %s", c.printer.Sprintf(
			"what may be about a person is taken out of the reason: %s", text.Redacted(kept)))
	}
	return errors.Join(wrong...)
}

// redriven is what redrive answers about the claims that were chosen. Its JSON form is stable; before they
// are sent it is a plan.
type redriven struct {
	Claims []redrive.Claim `json:"claims"`
}

// Count returns how many claims have this result.
func (r *redriven) Count(result redrive.Result) (n int) {
	for i := range r.Claims {
		if r.Claims[i].Result == result {
			n++
		}
	}
	return n
}

// Preview lists the claims of a plan, with where they were chosen from: which may have arrived, whether they
// are to be sent again, and why not.
func (r *redriven) Preview(p *text.Printer, from text.Message) string {
	rows := [][]string{
		{p.Sprintf("STATUS"), p.Sprintf("RULE"), p.Sprintf("CHECK"), p.Sprintf("SEND"), p.Sprintf("CLAIM")},
	}
	arrived, refused := 0, map[string]int{}
	for i := range r.Claims {
		c := &r.Claims[i]
		send := p.Sprintf("yes")
		if c.Result != redrive.Planned {
			send = p.Sprintf("no")
			refused[why(p, c)]++
		}
		if c.Check != "" {
			arrived++
		}
		rows = append(rows, []string{redrive.Status(&c.Claim), c.Rule, c.Check, send, c.ClaimID})
	}
	var b strings.Builder
	planned := r.Count(redrive.Planned)
	b.WriteString(text.Table("", rows) + "\n")
	b.WriteString(p.Sprintf("%d claims %s; %d to send again.", len(r.Claims), from, planned) + "\n")
	if arrived > 0 {
		b.WriteString(text.Wrap(p.Sprintf("%d of these may have arrived: CHECK_STATUS after a time-out or "+
			"a lost connection, for example, DUPLICATE where the insurer says so.", arrived), ""))
	}
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		b.WriteString(text.Hanging(p.Sprintf("%d not: ", refused[why]), text.Line(why)))
	}
	b.WriteString(p.Sprintf("Nothing was sent. With --json this is a plan, for --plan and --reason.") + "\n")
	return b.String()
}

// Results lists what became of each claim.
func (r *redriven) Results(p *text.Printer) (s string) {
	for i := range r.Claims {
		c := &r.Claims[i]
		became := why(p, c)
		if c.Result == redrive.Done {
			became = p.Name("kind", c.Recorded.String())
		}
		s += text.Hanging(fmt.Sprintf("%-11s  ", c.Result), text.Line(c.ClaimID+"  "+became))
	}
	return s
}

// why says why a claim is not sent again, after the name of the fault where that has one.
func why(p *text.Printer, c *redrive.Claim) string {
	if c.Fault == "" {
		return p.Text(c.Why)
	}
	return string(c.Fault) + ": " + p.Text(c.Why)
}
