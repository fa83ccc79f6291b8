// Package cli is the command line. A command reads its arguments, calls the package that does the work, and
// answers with a value, which has a stable JSON form and a text for a terminal of 80 columns.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/claims/redrive"
	"hospital.example/analyze-retry/internal/text"
)

// The exit codes. A claim that redrive does not send again has one of its own.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

var redriveExits = map[redrive.Fault]int{
	redrive.JobNotFound:        3,
	redrive.MaxRetriesExceeded: 4,
	redrive.InvalidRetryState:  5,
}

// usageError is what is wrong with a command line, in contrast to a failure of the command.
type usageError []error

// when adds a mistake where something is wrong.
func (e *usageError) when(wrong bool, what text.Message) {
	if wrong {
		*e = append(*e, what)
	}
}

func (e usageError) Error() string { return errors.Join(e...).Error() }

func (e usageError) Unwrap() []error { return e }

var langFlag = regexp.MustCompile(`(?:^| )--lang[ =](\S+)`)

// Run runs the command line (without the program's name) until it is done or ctx ends, and returns the exit
// code. Results and the log go to stdout, errors to stderr. now is the clock of the commands.
func Run(ctx context.Context, now func() time.Time, args []string, stdout, stderr io.Writer) int {
	p := program{now: now}
	root := p.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if lang := langFlag.FindStringSubmatch(strings.Join(args, " ")); !p.begun && lang != nil {
		_ = p.given.Lang.Decode(lang[1]) // cobra may have found a mistake before it
	}
	printer, _ := p.printer() // what is wrong with a setting is in the error
	complain := func(words string) { fmt.Fprintln(stderr, text.Line(words)) }
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		complain("worker: " + printer.Sprintf("stopped before it was done; what was done until then stays"))
		return exitFailure
	}
	usage := !p.begun || errors.As(err, new(usageError))
	if found, are := errors.AsType[text.Findings](err); are {
		for i := range found {
			fmt.Fprint(stderr, text.Harmless(found[i].In(printer)))
		}
		if !usage {
			complain(printer.Sprintf("Every setting, its default and what it may hold: %s",
				"worker config --explain"))
			return exitUsage
		}
	} else {
		words := printer.Error(err)
		if strings.Contains(words, "arg(s)") {
			words = printer.Sprintf("the command is: %s", command.UseLine())
		}
		if !p.begun && printer.Language() == text.Portuguese {
			words = cobraInPortuguese(words)
		}
		for line := range strings.Lines(words) {
			if line = strings.TrimSpace(line); line != "" {
				complain("worker: " + line)
			}
		}
	}
	if usage {
		complain(printer.Sprintf("How it is used: %s --help", command.CommandPath()))
		return exitUsage
	}
	if fault, ok := errors.AsType[redrive.Fault](err); ok {
		return redriveExits[fault]
	}
	return exitFailure
}

func (p *program) root() *cobra.Command {
	run := p.run()
	root := &cobra.Command{
		Use:           "worker",
		RunE:          run.RunE,
		Version:       version + " (" + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	flags := root.PersistentFlags()
	flags.Func("lang", "`LANGUAGE` of the text: pt-BR or en (default RETRY_LANG)", p.given.Lang.Decode)
	flags.Func("tz", "`ZONE` of the times, an IANA name (default RETRY_TZ)", p.given.TZ.Decode)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(run, p.audit(), p.claims(), p.config(), p.deploy(), p.doctor(), p.explain(), p.history(),
		p.kpi(), p.models(), p.policies(), p.redrive(), p.report(), p.simulate())
	p.helpIn(root)
	return root
}

// version is set when the binary is linked, by -ldflags "-X PACKAGE.version=v1.2.3".
var version = "(devel)"
