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
	// Gateway, Full and Broker are empty where they were not asked for.
	Gateway series   `json:"gateway"`
	Full    []series `json:"full,omitempty"`
	Broker  series   `json:"broker"`
}

// series is rounds in which the same workers took turns.
type series struct {
	// Where says against what they worked, and how.
	Where string `json:"where,omitempty"`
	// Workers are their names.
	Workers []string `json:"workers,omitempty"`
	Rounds  []round  `json:"rounds,omitempty"`

	contenders []contender
	further    []row // what else was measured on the same stores
}

func newSeries(where string, contenders []contender) series {
	all := series{Where: where, contenders: contenders}
	for _, c := range contenders {
		all.Workers = append(all.Workers, c.name)
	}
	return all
}

// round holds a sample of every worker, in the order of their names, whichever ran first.
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
	// Medians are what the ratio was made of, the worker's first.
	Medians string `json:"medians,omitempty"`

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

// target is what a median has to be. The zero value is met by all, and not shown.
type target struct {
	text string
	met  func(median float64) bool
}

var noTarget target

func atMost(limit float64) target {
	return target{fmt.Sprintf("at most %.3g", limit), func(v float64) bool { return v <= limit }}
}

func atLeast(limit float64) target {
	return target{fmt.Sprintf("at least %.3g", limit), func(v float64) bool { return v >= limit }}
}

func below(limit float64) target {
	return target{fmt.Sprintf("below %.4g", limit), func(v float64) bool { return v < limit }}
}

// want adds a target to a row; the median is what counts.
func (r row) want(t target) row {
	if t.met == nil {
		return r
	}
	r.Target, r.Verdict = t.text, "misses target"
	if t.met(r.Median) {
		r.Verdict = "meets target"
	}
	return r
}

// section is the part of the table under one heading.
type section struct {
	Title string `json:"title"`
	Rows  []row  `json:"rows"`
}

func (r *report) sections() []section {
	var all []section
	for _, s := range append(append([]series{r.Gateway}, r.Full...), r.Broker) {
		if len(s.Rounds) > 0 {
			all = append(all, section{s.Where, s.rows()})
		}
	}
	return append(all, section{"The worker alone", r.alone()})
}

// rows compare each contender with the one that it is to be compared with.
func (s series) rows() (rows []row) {
	for i, c := range s.contenders {
		if i == c.to {
			continue
		}
		rows = append(rows, s.ratio(i, "CPU per job, whole life", "%.1f us", cpuPerJob).want(c.cpu))
		if s.known(i, warmCPUPerJob) && s.known(c.to, warmCPUPerJob) {
			rows = append(rows, s.ratio(i, "CPU per job, second half", "%.1f us", warmCPUPerJob).want(c.cpu))
		}
		switch {
		case s.known(i, serverCPUPerJob) && s.known(c.to, serverCPUPerJob):
			rows = append(rows, s.ratio(i, "CPU per job, with the server's", "%.1f us", withServer).want(c.cpu))
		case s.known(i, serverCPUPerJob):
			rows = append(rows, newRow(c.name+": the server's CPU per job, us", "%.1f", s.each(i, serverCPUPerJob)))
		}
		rows = append(rows, s.ratio(i, "throughput", "%.0f/s", throughput).want(c.throughput))
	}
	return append(rows, s.further...)
}

func (r *report) alone() []row {
	rows := []row{
		newRow("decision, ns of CPU", "%.0f", r.Decision.Nanoseconds).want(below(1000)),
		newRow("decision, allocations", "%.0f", []float64{float64(r.Decision.Allocations)}).want(atMost(4)),
	}
	for _, s := range append([]series{r.Gateway}, r.Full...) {
		for i, c := range s.contenders {
			if !c.product || i == c.to || len(s.Rounds) == 0 {
				continue
			}
			rows = append(rows,
				newRow(c.name+": memory at 50 jobs active, MiB", "%.1f", s.each(i, memory)).want(below(64)),
				newRow(c.name+": start to first activation, ms", "%.0f", s.each(i, firstPoll)).want(below(100)))
		}
	}
	return append(rows, newRow("size of the binary, MiB", "%.1f", []float64{float64(r.BinaryBytes) / (1 << 20)}))
}

func cpuPerJob(s sample) float64       { return s.CPUPerJob }
func warmCPUPerJob(s sample) float64   { return s.WarmCPUPerJob }
func serverCPUPerJob(s sample) float64 { return s.ServerCPUPerJob }
func withServer(s sample) float64      { return s.CPUPerJob + s.ServerCPUPerJob }
func throughput(s sample) float64      { return s.Throughput }
func memory(s sample) float64          { return float64(s.Memory) / (1 << 20) }
func firstPoll(s sample) float64       { return s.FirstPoll }

// each is one figure of one worker, for every round.
func (s series) each(which int, figure func(sample) float64) []float64 {
	values := make([]float64, len(s.Rounds))
	for i, r := range s.Rounds {
		values[i] = figure(r[which])
	}
	return values
}

// known reports whether a figure of one worker is known: it is 0 if the system does not say.
func (s series) known(which int, figure func(sample) float64) bool {
	return figure(s.Rounds[0][which]) > 0
}

// ratio compares a figure of one worker with that of the one it is to be compared with, within each round.
func (s series) ratio(which int, name, format string, figure func(sample) float64) row {
	c := s.contenders[which]
	ours, theirs := s.each(which, figure), s.each(c.to, figure)
	ratios := make([]float64, len(s.Rounds))
	for i := range ratios {
		ratios[i] = ours[i] / theirs[i]
	}
	r := newRow(c.name+": "+name, "%.2f", ratios)
	r.Medians = fmt.Sprintf(format+" to "+format, newRow("", "", ours).Median, newRow("", "", theirs).Median)
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
				row.Name, row.Median, row.Min, row.Max, row.Target, row.Verdict, row.Medians)
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
