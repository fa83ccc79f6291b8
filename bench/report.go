package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// report is all that a run measured.
type report struct {
	Machine     machine      `json:"machine"`
	Settings    settings     `json:"settings"`
	Seconds     float64      `json:"seconds"`
	LoadBefore  string       `json:"loadBefore"`
	LoadAfter   string       `json:"loadAfter"`
	Decision    decisionCost `json:"decision"`
	BinaryBytes int64        `json:"binaryBytes"`
	Gateway     series       `json:"gateway"`
	Broker      series       `json:"broker"`
}

// series is rounds in which the same workers took turns.
type series struct {
	// Where says against what they worked, and how.
	Where string `json:"where,omitempty"`
	// Workers are their names, ours first.
	Workers []string `json:"workers,omitempty"`
	Rounds  []round  `json:"rounds,omitempty"`
}

// round holds a sample of every worker, ours first, whichever ran first.
type round []sample

// summary is a round in a few words, for the progress line.
func (r round) summary() string {
	var text strings.Builder
	for _, s := range r {
		fmt.Fprintf(&text, " | %.0f/s, %.1f us", s.Throughput, s.CPUPerJob)
	}
	return text.String()
}

// row is one line of the table.
type row struct {
	Name   string  `json:"name"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	// Target and Verdict are empty where there is no target.
	Target  string `json:"target,omitempty"`
	Verdict string `json:"verdict,omitempty"`
	// Beside is what the ratio was made of, the worker's median first.
	Beside string `json:"beside,omitempty"`

	format string
}

// newRow summarizes the values of all rounds.
func newRow(name, format string, values []float64) row {
	sorted := slices.Sorted(slices.Values(values))
	return row{Name: name, Median: median(sorted), Min: sorted[0], Max: sorted[len(sorted)-1], format: format}
}

func median(sorted []float64) float64 {
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// want adds a target to a row; the median is what counts.
func (r row) want(target string, met func(median float64) bool) row {
	r.Target, r.Verdict = target, "misses target"
	if met(r.Median) {
		r.Verdict = "meets target"
	}
	return r
}

func atMost(limit float64) func(float64) bool  { return func(v float64) bool { return v <= limit } }
func below(limit float64) func(float64) bool   { return func(v float64) bool { return v < limit } }
func atLeast(limit float64) func(float64) bool { return func(v float64) bool { return v >= limit } }

// section is the part of the table under one heading.
type section struct {
	Title string `json:"title"`
	Rows  []row  `json:"rows"`
}

func (r *report) sections() []section {
	var all []section
	if s := r.Gateway; len(s.Rounds) > 0 {
		rows := []row{s.ratio("CPU per job, whole life", 1, "%.1f us", cpuPerJob).want("at most 1.00", atMost(1))}
		if s.Rounds[0][0].WarmCPUPerJob > 0 {
			rows = append(rows, s.ratio("CPU per job, second half", 1, "%.1f us", warmCPUPerJob).want("at most 1.00", atMost(1)))
		}
		rows = append(rows, s.ratio("throughput", 1, "%.0f/s", throughput).want("at least 1.00", atLeast(1)))
		all = append(all, section{s.Where + ", ratio to the " + s.Workers[1], rows})
	}
	if s := r.Broker; len(s.Rounds) > 0 {
		for other := 1; other < len(s.Workers); other++ {
			all = append(all, section{s.Where + ", ratio to the " + s.Workers[other], []row{
				s.ratio("throughput", other, "%.0f/s", throughput).want("at least 0.97", atLeast(0.97)),
				s.ratio("CPU per job, whole life", other, "%.0f us", cpuPerJob),
			}})
		}
	}
	return append(all, section{"The worker alone", r.alone()})
}

func (r *report) alone() []row {
	rows := []row{
		newRow("decision, ns of CPU", "%.0f", r.Decision.Nanoseconds).want("below 1000", below(1000)),
		newRow("decision, allocations", "%.0f", []float64{float64(r.Decision.Allocations)}).want("at most 4", atMost(4)),
	}
	if len(r.Gateway.Rounds) > 0 {
		rows = append(rows,
			newRow("memory at 50 jobs active, MiB", "%.1f", r.Gateway.each(0, memory)).want("below 64", below(64)),
			newRow("start to first activation, ms", "%.0f", r.Gateway.each(0, firstPoll)).want("below 100", below(100)))
	}
	return append(rows, newRow("size of the binary, MiB", "%.1f", []float64{float64(r.BinaryBytes) / (1 << 20)}))
}

func cpuPerJob(s sample) float64     { return s.CPUPerJob }
func warmCPUPerJob(s sample) float64 { return s.WarmCPUPerJob }
func throughput(s sample) float64    { return s.Throughput }
func memory(s sample) float64        { return float64(s.Memory) / (1 << 20) }
func firstPoll(s sample) float64     { return s.FirstPoll }

// each is one figure of one worker, for every round.
func (s series) each(which int, figure func(sample) float64) []float64 {
	values := make([]float64, len(s.Rounds))
	for i, r := range s.Rounds {
		values[i] = figure(r[which])
	}
	return values
}

// ratio compares a figure of our worker with that of another one, within each round.
func (s series) ratio(name string, other int, format string, figure func(sample) float64) row {
	ours, theirs := s.each(0, figure), s.each(other, figure)
	ratios := make([]float64, len(s.Rounds))
	for i := range ratios {
		ratios[i] = ours[i] / theirs[i]
	}
	r := newRow(name, "%.2f", ratios)
	r.Beside = fmt.Sprintf(format+" beside "+format, newRow("", "", ours).Median, newRow("", "", theirs).Median)
	return r
}

func (r *report) writeTable(out io.Writer) error {
	m := r.Machine
	fmt.Fprintf(out, "%s, %d cores, %s, %s, load %s before and %s after, %.0f s\n", m.CPU, m.Cores, m.OS, m.Go, r.LoadBefore, r.LoadAfter, r.Seconds)
	for _, s := range r.sections() {
		fmt.Fprintf(out, "\n%s\n", s.Title)
		table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
		fmt.Fprintln(table, "  \tmedian\trange\ttarget\t\t")
		for _, row := range s.Rows {
			fmt.Fprintf(table, "  %s\t"+row.format+"\t"+row.format+" .. "+row.format+"\t%s\t%s\t%s\n",
				row.Name, row.Median, row.Min, row.Max, row.Target, row.Verdict, row.Beside)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (r *report) writeJSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		*report
		Sections []section `json:"sections"`
	}{r, r.sections()})
}
