package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/prometheus/procfs"
)

// figures are the columns of the table. Of those that are compared it shows the ratio to the first worker, too.
var figures = []struct {
	name, format string
	compared     bool
	of           func(sample) float64
}{
	{"CPU a job, us", "%.1f", true, func(s sample) float64 { return s.cpu }},
	{"PostgreSQL's, us", "%.1f", false, func(s sample) float64 { return s.server }},
	{"jobs/s", "%.0f", true, func(s sample) float64 { return s.throughput }},
	{"memory, MiB", "%.1f", false, func(s sample) float64 { return s.memory }},
	{"first poll, ms", "%.0f", false, func(s sample) float64 { return s.start }},
}

// report prints the medians of all rounds with their range, and how each worker compares with the first one within each
// round.
func report(out io.Writer, contenders []contender, results [][]sample) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	for _, f := range figures {
		fmt.Fprintf(table, "%s\tmedian\trange\t%s\t\n", f.name, map[bool]string{true: "ratio\trange"}[f.compared])
		for i, c := range contenders {
			values, ratios := make([]float64, len(results[i])), make([]float64, len(results[i]))
			for n, s := range results[i] {
				values[n] = f.of(s)
				ratios[n] = values[n] / f.of(results[0][n])
			}
			fmt.Fprintf(table, "  %s\t%s\t", c.name, spread(f.format, values))
			if f.compared && i > 0 {
				fmt.Fprint(table, spread("%.2f", ratios))
			}
			fmt.Fprintln(table, "\t")
		}
	}
	return table.Flush()
}

// spread words the median and the range of values.
func spread(format string, values []float64) string {
	slices.Sort(values)
	half := len(values) / 2
	median := (values[half] + values[(len(values)-1)/2]) / 2
	return fmt.Sprintf(format+"\t"+format+" .. "+format, median, values[0], values[len(values)-1])
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
