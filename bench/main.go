// Command bench compares the worker with a worker that decides nothing: the client library's own (zbc.NewJobWorker),
// which completes every job at once. Both are processes of their own and take turns within one run, so that only ratios
// are compared and a slow machine, or a busy one, slows both.
//
// It measures and does not judge: it exits 0 whatever the figures are, and 1 where a worker gave a wrong answer, where
// no figure would mean anything. docs/performance.md says how to read the table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && (args[0] == noDecisionCommand || args[0] == notDurableCommand) {
		work := workWithoutDecision
		if args[0] == notDurableCommand {
			work = workNotDurably
		}
		if err := work(ctx, args[1:]); err != nil {
			fmt.Fprintln(stderr, args[0]+":", err)
			return 1
		}
		return 0
	}
	s, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	r, err := measure(ctx, s, stderr)
	// What was measured before an error is shown: it can be half an hour's work.
	if r != nil {
		err = errors.Join(err, r.writeTable(stdout))
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

// settings are the flags of a run.
type settings struct {
	rounds, jobs int
	// rows are how many decisions the full stores hold, the least first.
	rows            []int
	worker, against string
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	var quick bool
	rows := "1000000,10000000"
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&s.rounds, "rounds", 9, "rounds against an engine in this process; every worker runs once in each; 0 skips them")
	flags.IntVar(&s.jobs, "jobs", 20_000, "jobs in each of them")
	flags.StringVar(&rows, "rows", rows, "how many decisions the full stores hold, the least first; empty skips them. 10 million take a quarter of an hour and 33 GB of disk, removed at the end")
	flags.BoolVar(&quick, "quick", false, "a first impression in two minutes: 3 rounds of 10000 jobs, stores of 100000 decisions")
	flags.StringVar(&s.worker, "worker", "", "the worker's binary to measure (default: built from ./cmd/worker)")
	flags.StringVar(&s.against, "against", "", "another binary of the worker to compare with, instead of the no-decision worker")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if quick {
		s.rounds, s.jobs, rows = 3, 10_000, "100000"
	}
	var err error
	if s.rows, err = parseRows(rows); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return s, err
	}
	if s.rounds == 0 {
		s.rows = nil
	}
	if s.jobs < 100 || s.rounds < 0 || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "bench: rounds are 0 or more, jobs 100 or more, and there are no arguments but the flags")
		return s, errors.New("wrong flags")
	}
	return s, nil
}

// parseRows reads a list of growing numbers.
func parseRows(list string) (rows []int, err error) {
	last := 0
	for text := range strings.SplitSeq(list, ",") {
		if list == "" {
			return nil, nil
		}
		n, err := strconv.Atoi(text)
		if err != nil || n <= last {
			return nil, fmt.Errorf("-rows %s: want growing whole numbers with commas between, such as 1000000,10000000", list)
		}
		rows, last = append(rows, n), n
	}
	return rows, nil
}

// measure runs everything, one after the other, and collects it in a report.
func measure(ctx context.Context, s settings, progress io.Writer) (_ *report, err error) {
	started := time.Now()
	r := &report{settings: s, loadBefore: load()}
	if len(s.rows) > 0 {
		if err := checkRoom(s.rows[len(s.rows)-1]); err != nil {
			return nil, err
		}
	}
	binary, remove, err := build(ctx, s.worker, progress)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	info, err := os.Stat(binary)
	if err != nil {
		return nil, err
	}
	r.binaryBytes = info.Size()
	on, err := openStores(ctx, progress)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, on.close()) }()
	workers, err := withNoDecision(binary, on)
	if s.against != "" {
		workers, err = twoBuilds(binary, s.against, on)
	}
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(progress, "the cost of a decision")
	r.decision = measureDecision()
	err = r.measureRounds(ctx, workers, binary, on, progress)
	r.loadAfter, r.seconds = load(), time.Since(started).Seconds()
	return r, err
}

// measureRounds fills in the parts of the report that are rounds, as far as it gets.
func (r *report) measureRounds(ctx context.Context, workers lineup, binary string, on *stores, progress io.Writer) error {
	s := r.settings
	if s.rounds > 0 {
		one, err := gatewayRounds(ctx, workers.ratio, workers.contenders, s, progress)
		if err != nil {
			return err
		}
		r.series = append(r.series, one)
	}
	if len(s.rows) > 0 {
		full, err := fullRounds(ctx, binary, on, s, progress)
		r.series = append(r.series, full...)
		if err != nil {
			return err
		}
	}
	return nil
}
