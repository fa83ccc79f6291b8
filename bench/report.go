package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// report is all that a run measured.
type report struct {
	settings              settings
	seconds               float64
	loadBefore, loadAfter string
	decision              decisionCost
	binaryBytes           int64
	// series are those that were asked for: on empty stores, on full stores.
	series []series
}

// series is rounds in which the same workers took turns.
type series struct {
	where      string // against what they worked, and how
	contenders []contender
	rounds     []round
	further    []row // what else was measured on the same stores
}

// round holds a sample of every worker, in the order of the contenders, whichever ran first.
type round []sample

// summary is a round in a few words, for the progress line.
func (r round) summary() string {
	var text strings.Builder
	for _, s := range r {
		fmt.Fprintf(&text, " | %.0f/s, %.1f us", s.throughput, s.cpuPerJob)
	}
	return text.String()
}

// row is one line of the table.
type row struct {
	name, format     string
	median, min, max float64
	// target and verdict are empty where there is no target.
	target, verdict string
	// medians are what the ratio was made of, the worker's first.
	medians string
}

// newRow summarizes the values of all rounds.
func newRow(name, format string, values []float64) row {
	sorted := slices.Sorted(slices.Values(values))
	return row{name: name, format: format, median: median(sorted), min: sorted[0], max: sorted[len(sorted)-1]}
}

func median(sorted []float64) float64 {
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// target is what a median has to be. The zero value is met by all, and not shown.
type target struct {
	text string
	met  func(median float64) bool
}

var noTarget target

func atMost(limit float64) target {
	return target{fmt.Sprintf("at most %.3g", limit), func(v float64) bool { return v <= limit }}
}

func below(limit float64) target {
	return target{fmt.Sprintf("below %.4g", limit), func(v float64) bool { return v < limit }}
}

// want adds a target to a row; the median is what counts.
func (r row) want(t target) row {
	if t.met == nil {
		return r
	}
	r.target, r.verdict = t.text, "misses target"
	if t.met(r.median) {
		r.verdict = "meets target"
	}
	return r
}

// rows compare each contender with the one that it is to be compared with.
func (s series) rows() (rows []row) {
	for i, c := range s.contenders {
		if i == c.to {
			continue
		}
		rows = append(rows, s.ratio(i, "CPU per job", "%.1f us", cpuPerJob).want(c.cpu))
		switch {
		case s.known(i, serverCPUPerJob) && s.known(c.to, serverCPUPerJob):
			rows = append(rows, s.ratio(i, "CPU per job, with the server's", "%.1f us", withServer).want(c.cpu))
		case s.known(i, serverCPUPerJob):
			rows = append(rows, newRow(c.name+": the server's CPU per job, us", "%.1f", s.each(i, serverCPUPerJob)))
		}
		rows = append(rows, s.ratio(i, "throughput", "%.0f/s", throughput))
	}
	return append(rows, s.further...)
}

func (r *report) alone() []row {
	rows := []row{
		newRow("decision, ns of CPU", "%.0f", r.decision.nanoseconds).want(below(1000)),
		newRow("decision, allocations", "%.0f", []float64{float64(r.decision.allocations)}).want(atMost(4)),
	}
	for _, s := range r.series {
		for i, c := range s.contenders {
			if !c.product || i == c.to {
				continue
			}
			if s.known(i, memory) {
				rows = append(rows, newRow(c.name+": memory at 50 jobs active, MiB", "%.1f", s.each(i, memory)).want(below(64)))
			}
			if s.known(i, firstPoll) {
				rows = append(rows, newRow(c.name+": start to first activation, ms", "%.0f", s.each(i, firstPoll)).want(below(100)))
			}
		}
	}
	return append(rows, newRow("size of the binary, MiB", "%.1f", []float64{float64(r.binaryBytes) / (1 << 20)}))
}

func cpuPerJob(s sample) float64       { return s.cpuPerJob }
func serverCPUPerJob(s sample) float64 { return s.serverCPUPerJob }
func withServer(s sample) float64      { return s.cpuPerJob + s.serverCPUPerJob }
func throughput(s sample) float64      { return s.throughput }
func memory(s sample) float64          { return float64(s.memory) / (1 << 20) }
func firstPoll(s sample) float64       { return s.firstPoll }

// each is one figure of one worker, for every round.
func (s series) each(which int, figure func(sample) float64) []float64 {
	values := make([]float64, len(s.rounds))
	for i, r := range s.rounds {
		values[i] = figure(r[which])
	}
	return values
}

// known reports whether a figure of one worker is known: it is 0 if the system does not say.
func (s series) known(which int, figure func(sample) float64) bool {
	return figure(s.rounds[0][which]) > 0
}

// ratio compares a figure of one worker with that of the one it is to be compared with, within each round.
func (s series) ratio(which int, name, format string, figure func(sample) float64) row {
	c := s.contenders[which]
	ours, theirs := s.each(which, figure), s.each(c.to, figure)
	ratios := make([]float64, len(s.rounds))
	for i := range ratios {
		ratios[i] = ours[i] / theirs[i]
	}
	r := newRow(c.name+": "+name, "%.2f", ratios)
	r.medians = fmt.Sprintf(format+" to "+format, newRow("", "", ours).median, newRow("", "", theirs).median)
	return r
}

func (r *report) writeTable(out io.Writer) error {
	fmt.Fprintf(out, "%s, %d cores, %s/%s, %s, load %s before and %s after, %.0f s\n",
		cpuModel(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), r.loadBefore, r.loadAfter, r.seconds)
	for _, s := range r.series {
		if err := writeRows(out, s.where, s.rows()); err != nil {
			return err
		}
	}
	return writeRows(out, "The worker alone", r.alone())
}

func writeRows(out io.Writer, title string, rows []row) error {
	fmt.Fprintf(out, "\n%s\n", title)
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "  \tmedian\trange\ttarget\t\t")
	for _, row := range rows {
		fmt.Fprintf(table, "  %s\t"+row.format+"\t"+row.format+" .. "+row.format+"\t%s\t%s\t%s\n",
			row.name, row.median, row.min, row.max, row.target, row.verdict, row.medians)
	}
	return table.Flush()
}

// cpuModel returns what Linux calls the processor.
func cpuModel() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	if model := strings.TrimLeft(field(string(text), "model name"), "\t: "); model != "" {
		return model
	}
	return "unknown CPU"
}

// load returns the machine's load averages, or "unknown": other programs that run make the figures spread.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	if averages := strings.Fields(string(text)); len(averages) >= 3 {
		return strings.Join(averages[:3], " ")
	}
	return "unknown"
}
