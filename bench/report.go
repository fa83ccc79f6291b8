package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/prometheus/procfs"
)

// figures are the columns of the table: medians with their range. Of those that are compared it is of the ratios to the first
// worker, each within one round.
var figures = []struct {
	name, format string
	compared     bool
	of           func(sample) float64
}{
	{"CPU a job, us", "%.0f", false, func(s sample) float64 { return s.cpu }},
	{"ratio", "%.2f", true, func(s sample) float64 { return s.cpu }},
	{"jobs/s", "%.0f", false, func(s sample) float64 { return s.throughput }},
	{"ratio", "%.2f", true, func(s sample) float64 { return s.throughput }},
	{"p99, ms", "%.1f", false, func(s sample) float64 { return s.p99 }},
	{"memory, MiB", "%.0f", false, func(s sample) float64 { return s.memory }},
	{"first poll, ms", "%.0f", false, func(s sample) float64 { return s.start }},
}

// report prints the table of all rounds.
func report(out io.Writer, contenders []contender, results [][]sample) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range figures {
		fmt.Fprint(table, "\t", f.name)
	}
	fmt.Fprintln(table)
	for i, c := range contenders {
		fmt.Fprint(table, c.name)
		for _, f := range figures {
			values := make([]float64, len(results[i]))
			for n, s := range results[i] {
				values[n] = f.of(s)
				if f.compared {
					values[n] /= f.of(results[0][n])
				}
			}
			fmt.Fprint(table, "\t", spread(f.format, values))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// spread words the median and the range of values.
func spread(format string, values []float64) string {
	slices.Sort(values)
	half := len(values) / 2
	median := (values[half] + values[(len(values)-1)/2]) / 2
	return fmt.Sprintf(format+" ("+format+" to "+format+")", median, values[0], values[len(values)-1])
}

// load returns the machine's load averages: other programs that run make the figures spread.
func load() string {
	system, _ := procfs.NewDefaultFS()
	averages, err := system.LoadAvg()
	if err != nil {
		return "unknown"
	}
	return fmt.Sprint(averages.Load1, averages.Load5, averages.Load15)
}
