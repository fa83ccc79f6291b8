package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hospital.example/analyze-retry/internal/terminal"
)

// one sends one claim again, or says what would be done.
func (o *redriveOptions) one(ctx context.Context, command *cobra.Command, r *redriving) error {
	act := r.redrive
	if o.dryRun {
		act = r.look
	}
	d := act(ctx, o.claim)
	if o.asJSON {
		return errors.Join(printJSON(command, d), d.err)
	}
	if d.err == nil {
		fmt.Fprint(command.OutOrStdout(), terminal.Text(d.text(r)))
	}
	return d.err
}

// text says what became of a claim where all went well.
func (d *redriven) text(r *redriving) string {
	_, stood := standing(d.last, r.now())
	if d.Result == resultPlanned {
		return fmt.Sprintf("Claim %s would be sent again now.\n", plain(d.ClaimID)) + hanging("It: ", stood)
	}
	return fmt.Sprintf("Claim %s is sent again now.\n", plain(d.ClaimID)) + hanging("Before: ", stood) +
		hanging("Record: ", fmt.Sprintf("%s at %s, ordered by %s, redrive %s", d.Recorded, utc(*d.RecordedAt), plain(r.order.Operator), d.RedriveID)) +
		hanging("Reason: ", plain(r.order.Justification))
}

// bulk is what redrive answers about several claims. Its JSON form is stable.
type bulk struct {
	DryRun   bool `json:"dryRun"`
	Selected int  `json:"selected"`
	// Done are the claims that are sent again, NotDone all others.
	Done    int        `json:"done"`
	NotDone int        `json:"notDone"`
	Claims  []redriven `json:"claims"`
}

// many sends the chosen claims again: it lists them, asks, and tells what became of each.
func (o *redriveOptions) many(ctx context.Context, command *cobra.Command, r *redriving) error {
	now := r.now()
	chosen, err := choose(ctx, r.store, now.Add(-time.Duration(o.since)), now, o.filter)
	if err != nil {
		return err
	}
	b := bulk{DryRun: o.dryRun, Selected: len(chosen), Claims: []redriven{}} // in JSON a list, even where it is empty
	for _, c := range chosen {
		d := redriven{candidate: c}
		d.judge(o.force)
		b.Claims = append(b.Claims, d)
	}
	out := command.OutOrStdout()
	if o.asJSON {
		out = io.Discard
	}
	fmt.Fprint(out, terminal.Text(b.preview(o)))
	if planned := b.number(resultPlanned); !o.dryRun && planned > 0 {
		question := fmt.Sprintf("Send %s again now, at most %s?", count(planned, "claim"), o.rate.String())
		if !o.yes && !confirmed(ctx, command, question) {
			return errors.New("nothing was sent")
		}
		told, done := counterOn(command.ErrOrStderr(), planned)
		r.all(ctx, b.Claims, o.rate.every, told)
		done()
		fmt.Fprint(out, terminal.Text("\n"+b.results()))
	}
	b.Done = b.number(resultDone)
	b.NotDone = b.Selected - b.Done
	fmt.Fprint(out, terminal.Text(b.summary()))
	if o.asJSON {
		err = printJSON(command, b)
	}
	if !o.dryRun && b.NotDone > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %s not sent again", b.NotDone, count(b.Selected, "claim")))
	}
	return err
}

// number is how many claims have this result.
func (b *bulk) number(r result) (n int) {
	for i := range b.Claims {
		if b.Claims[i].Result == r {
			n++
		}
	}
	return n
}

// refusals is how many claims were refused with this fault.
func (b *bulk) refusals(fault faultName) (n int) {
	for i := range b.Claims {
		if b.Claims[i].Fault == fault {
			n++
		}
	}
	return n
}

// preview lists the chosen claims before anything is sent.
func (b *bulk) preview(o *redriveOptions) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	if b.Selected > 0 {
		fmt.Fprintln(w, "STATUS\tRULE\tDECIDED\tSEND\tCLAIM")
	}
	for i := range b.Claims {
		d := &b.Claims[i]
		what := "yes"
		if d.Fault != "" {
			what = "no"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", d.Status, plain(d.RuleID), utcMinutes(*d.DecidedAt), what, plain(d.ClaimID))
	}
	_ = w.Flush() // a strings.Builder takes everything
	if b.Selected > 0 {
		text.WriteString("\n")
	}
	fmt.Fprintf(&text, "%s chosen, of the decisions of the last %s; %d to send again.\n",
		count(b.Selected, "claim"), o.since.String(), b.number(resultPlanned))
	for _, fault := range []faultName{maxRetriesExceeded, invalidRetryState} {
		if n := b.refusals(fault); n > 0 {
			fmt.Fprintf(&text, "%d not without --force: %s.\n", n, fault)
		}
	}
	return text.String()
}

// results tells what became of each claim.
func (b *bulk) results() string {
	var text strings.Builder
	for i := range b.Claims {
		d := &b.Claims[i]
		became := d.Recorded
		if d.Fault != "" {
			became = string(d.Fault) + ": "
		}
		text.WriteString(hanging(fmt.Sprintf("%-11s  ", d.Result), plain(d.ClaimID+"  "+became+d.Message)))
	}
	return text.String()
}

// summary counts the results.
func (b *bulk) summary() string {
	if b.DryRun {
		return "Nothing was sent: a dry run.\n"
	}
	var parts []string
	for _, r := range []result{resultRefused, resultUnconfirmed, resultFailed, resultNotTried} {
		if n := b.number(r); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(string(r), "_", " ")))
		}
	}
	text := fmt.Sprintf("\n%d of %s sent again", b.Done, count(b.Selected, "claim"))
	if len(parts) > 0 {
		text += "; " + strings.Join(parts, ", ")
	}
	return text + ".\n"
}

// counterOn counts on a terminal, and does nothing elsewhere. done takes the count away.
func counterOn(w io.Writer, of int) (told func(int), done func()) {
	if !isTerminal(w) {
		return func(int) {}, func() {}
	}
	const clearLine = "\r\x1b[K"
	return func(n int) { fmt.Fprintf(w, clearLine+"%d of %s settled", n, count(of, "claim")) },
		func() { fmt.Fprint(w, clearLine) }
}

// isTerminal reports whether a person sits at a reader or a writer.
func isTerminal(stream any) bool {
	f, isFile := stream.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}
