package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/claims/redrive"
	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

func (p *program) redrive() *cobra.Command {
	command := &cobra.Command{Use: "redrive"}
	o := redriveFlags{Redriver: redrive.Redriver{Now: p.now, Timeout: redriveTimeout}}
	o.define(command)
	return p.answers(command, settings, func(c *call) (any, error) {
		o.check(c)
		if err := c.open(); err != nil {
			return nil, err
		}
		send, end, err := app.Sender(c.cfg)
		if err != nil {
			return nil, err
		}
		o.Store, o.Send = c.store, send
		answer, err := o.carryOut(c)
		return answer, errors.Join(err, end())
	})
}

// carryOut plans what the flags choose, and with a reason sends it again.
func (o *redriveFlags) carryOut(c *call) (any, error) {
	chosen, from, err := o.choose(c)
	if err != nil {
		return nil, err
	}
	answer := redriven{Claims: chosen}
	if o.Order.Justification != "" {
		planned := answer.Count(redrive.Planned)
		step := max(1, planned/10) // ten lines, however many there are and however long that takes
		o.All(c.Context(), chosen, time.Minute/time.Duration(o.rate), func(given int) {
			if planned > 1 && given%step == 0 {
				fmt.Fprintln(c.ErrOrStderr(), c.w.Sprintf("%d of %d ordered", given, planned))
			}
		})
	}
	switch missing := len(chosen) - answer.Count(redrive.Done); {
	case o.claim != "" && chosen[0].Why.Format != "":
		return answer, c.w.refusal(&chosen[0], text.Messagef("claim %s: %s", o.claim, chosen[0].Why))
	case o.Order.Justification == "":
		answer.sayPlan(c.w, from)
		if o.Wait > 0 && answer.Count(redrive.Planned) > 0 {
			c.w.sayf("Each would wait %s first: give --wait with --reason too.", o.Wait)
		}
		return answer, nil
	case missing > 0:
		err = text.Messagef("%d of %d claims not sent again", missing, len(chosen))
	}
	answer.sayResults(c.w)
	return answer, err
}

// choose returns the claims that the flags choose, and in words where they are from.
func (o *redriveFlags) choose(c *call) ([]redrive.Claim, text.Message, error) {
	if o.claim != "" {
		return []redrive.Claim{o.Look(c.Context(), o.claim)}, text.Messagef("chosen"), nil
	}
	if o.plan == "" {
		chosen, err := o.Choose(c.Context(), *o.since, o.filter)
		if err == nil && len(chosen) == 0 {
			err = o.unknown(c)
		}
		return chosen, text.Messagef("among the decisions of the last %s", *o.since), err
	}
	var plan struct{ Claims []redrive.PlannedClaim }
	content, err := os.ReadFile(o.plan)
	if err == nil {
		err = json.Unmarshal(content, &plan)
	}
	if err != nil {
		err = text.Messagef("reading the plan %s, which redrive --json writes: %s", o.plan, err)
	}
	picked := o.Pick(c.Context(), plan.Claims)
	if len(picked) == 0 && err == nil {
		err = text.Messagef("%s plans to send no claim: see why by redrive without --json", o.plan)
	}
	return picked, text.Messagef("of the plan"), err
}

// unknown returns an error if nothing is chosen because of a policy, a rule or a code that is not known.
func (o *redriveFlags) unknown(c *call) error {
	_, err := chosen(c, nil, "", o.filter.Policy)
	switch {
	case c.wrong != nil:
		return c.wrong
	case err == nil && o.filter.Rule != "":
		err = text.Messagef("no claim like that, decided in the last %s, has the rule or code %q",
			*o.since, o.filter.Rule)
	}
	return err
}

// redriveFlags are the flags: those that choose, and the order that they make.
type redriveFlags struct {
	redrive.Redriver

	claim, plan string
	filter      redrive.Filter
	since, wait *time.Duration
	rate        int
}

// redriveTimeout is how long the record of an order is waited for: a gateway that missed a notification looks
// for jobs again after 10 s. A test shortens it.
var redriveTimeout = 15 * time.Second

func (o *redriveFlags) define(command *cobra.Command) {
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.claim, "claim", "", "one claim")
	flags.StringVar(&o.plan, "plan", "", "`FILE` with a plan, which --json prints")
	flags.StringVar(&o.Order.Justification, "reason", "",
		"send again, and why: 500 characters, no patient data")
	flags.StringVar(&o.Order.DecidedBy, "operator", "", "who orders it (default RETRY_OPERATOR)")
	flags.BoolVar(&o.Force, "force", false, "also with retries used up or a permanent error")
	flags.BoolVar(&o.Checked, "checked", false, "also what may have arrived: the insurer was asked")
	o.wait = spanFlag(flags, "wait", "", "wait first, in a stopped one's round")
	flags.StringVar(&o.filter.Rule, "rule", "", "choose by the rule of the error, or the code it found")
	flags.StringVar(&o.filter.Policy, "policy", "", "choose by the policy that decided")
	flags.StringVar(&o.filter.Status, "status", "", "choose by: exhausted, permanent, waiting, overdue")
	o.since = spanFlag(flags, "since", "7d", "how far back to look")
	flags.IntVar(&o.rate, "rate", 600, "orders a minute at most")
	command.MarkFlagsOneRequired("claim", "plan", "rule", "policy", "status")
	for _, name := range []string{"rule", "policy", "status"} {
		command.MarkFlagsMutuallyExclusive("claim", "plan", name)
		command.MarkFlagsMutuallyExclusive("reason", name) // they plan only
	}
	command.MarkFlagsMutuallyExclusive("claim", "plan", "since")
	command.MarkFlagsMutuallyExclusive("plan", "force")
	command.MarkFlagsMutuallyExclusive("plan", "checked")
}

// check notes all that is wrong with the values of the flags, and completes them. Reason and
// operator are kept for years; who ordered as given, because audit must be able to name that user.
func (o *redriveFlags) check(c *call) {
	o.Wait = *o.wait
	if o.plan != "" { // it has what it was made with
		o.Force, o.Checked = true, true
	}
	order := &o.Order
	order.DecidedBy = cmp.Or(order.DecidedBy, c.cfg.Operator)
	c.wrong.when(order.Justification != "" && order.DecidedBy == "",
		text.Messagef("--operator is missing, and so is RETRY_OPERATOR"))
	o.filter.Status = named(c, "status", "standing", o.filter.Status, redrive.Statuses())
	c.wrong.when(o.rate < 1 || o.rate > 60_000,
		text.Messagef("--rate is %d; allowed: 1 to 60000", o.rate))
	long := func(flag, value string, most int) {
		n := utf8.RuneCountInString(value)
		c.wrong.when(n > most, text.Messagef("--%s has %d characters; allowed: %d", flag, n, most))
	}
	long("reason", order.Justification, contract.MaxJustification)
	long("operator", order.DecidedBy, contract.MaxDecidedBy)
	if kept := redact.Text(order.Justification); kept != order.Justification {
		order.Justification = kept
		taken := c.w.Sprintf("what may be about a person is taken out of the reason: %s", text.Redacted(kept))
		fmt.Fprintln(c.ErrOrStderr(), text.Line("worker: "+taken))
	}
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

// sayPlan lists the claims of a plan, with where they were chosen from: which may have arrived, whether they
// are to be sent again, and why not.
func (r *redriven) sayPlan(w *wording, from text.Message) {
	rows := [][]string{w.heads("STATUS", "RULE", "CHECK", "SEND", "CLAIM")}
	arrived, refused := 0, map[string]int{}
	for i := range r.Claims {
		c := &r.Claims[i]
		send := w.Sprintf("yes")
		if c.Result != redrive.Planned {
			send = w.Sprintf("no")
			refused[w.refusal(c, c.Why).Error()]++
		}
		if c.Check != "" {
			arrived++
		}
		status := w.Name("standing", redrive.Status(&c.Claim))
		rows = append(rows, []string{status, c.Rule, c.Check, send, c.ClaimID})
	}
	w.table("", rows)
	w.WriteString("\n")
	w.sayf("%d claims %s; %d to send again.", len(r.Claims), from, r.Count(redrive.Planned))
	if arrived > 0 {
		w.sayf("%d of these may have arrived. CHECK_STATUS: ask the insurer. "+
			"DUPLICATE: the insurer says so.", arrived)
	}
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		w.WriteString(text.Wrap(w.Sprintf("%d not: ", refused[why]), why))
	}
	w.sayf("Nothing was sent. With --json this is a plan, for --plan and --reason.")
}

// sayResults lists what became of each claim.
func (r *redriven) sayResults(w *wording) {
	for i := range r.Claims {
		c := &r.Claims[i]
		became := w.Name("kind", c.Recorded.String())
		if c.Result != redrive.Done {
			became = w.refusal(c, c.Why).Error()
		}
		w.WriteString(text.Wrap(fmt.Sprintf("%-11s  ", c.Result), c.ClaimID+"  "+became))
	}
}

// refusal is why a claim is not sent again, as an error that has the exit code of its fault.
func (w *wording) refusal(c *redrive.Claim, why text.Message) error {
	if c.Fault == "" {
		return cmp.Or(c.Err, errors.New(w.Text(c.Why)))
	}
	return fmt.Errorf("%w: %s", c.Fault, w.Text(why))
}
