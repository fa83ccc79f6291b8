package main

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestEachWorkerIsComparedWithItsOwn(t *testing.T) {
	s := series{contenders: []contender{
		{name: "plain"},
		contender{name: "fast"}.against(0, atMost(0.5)),
		{name: "other", to: 2},
		contender{name: "slow"}.against(2, atMost(1.5)),
	}}
	for _, k := range []float64{1, 10} { // a machine that is ten times slower in the second round
		s.rounds = append(s.rounds, round{
			{cpuPerJob: 10 * k, throughput: 1000 / k},
			{cpuPerJob: 5 * k, throughput: 1900 / k},
			{cpuPerJob: 20 * k, throughput: 100 / k, serverCPUPerJob: 80 * k},
			{cpuPerJob: 40 * k, throughput: 50 / k, serverCPUPerJob: 60 * k},
		})
	}
	var got []string
	for _, r := range s.rows() {
		if r.min != r.max {
			t.Errorf("%s: %v .. %v; a slow machine slows both", r.name, r.min, r.max)
		}
		got = append(got, strings.TrimSpace(r.name+" "+r.verdict))
	}
	want := []string{
		"fast: CPU per job meets target",
		"fast: throughput",
		"slow: CPU per job misses target",
		"slow: CPU per job, with the server's meets target",
		"slow: throughput",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheTableHasARowForEachFigure(t *testing.T) {
	r := report{series: []series{{where: "here", contenders: []contender{{name: "plain"}, {name: "ours", product: true}}}}}
	r.series[0].rounds = []round{{{cpuPerJob: 1, throughput: 1}, {cpuPerJob: 2, throughput: 3, memory: 65 << 20, firstPoll: 99}}}
	r.decision.nanoseconds = []float64{7}
	var table strings.Builder
	check.Must(t, r.writeTable(&table))
	for _, want := range []string{"here\n", "ours: throughput", "3.00 .. 3.00", "65.0", "misses target", "99", "meets target"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
}
