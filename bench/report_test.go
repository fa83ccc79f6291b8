package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestEachWorkerIsComparedWithItsOwn(t *testing.T) {
	s := newSeries("", []contender{
		{name: "plain"},
		contender{name: "fast"}.against(0, atMost(0.5), atLeast(2)),
		{name: "other", to: 2},
		contender{name: "slow"}.against(2, atMost(1.5), noTarget),
	})
	for _, k := range []float64{1, 10} { // a machine that is ten times slower in the second round
		s.Rounds = append(s.Rounds, round{
			{CPUPerJob: 10 * k, Throughput: 1000 / k},
			{CPUPerJob: 5 * k, Throughput: 1900 / k},
			{CPUPerJob: 20 * k, Throughput: 100 / k, ServerCPUPerJob: 80 * k},
			{CPUPerJob: 40 * k, Throughput: 50 / k, ServerCPUPerJob: 60 * k},
		})
	}
	var got []string
	for _, r := range s.rows() {
		if r.Min != r.Max {
			t.Errorf("%s: %v .. %v; a slow machine slows both", r.Name, r.Min, r.Max)
		}
		got = append(got, strings.TrimSpace(r.Name+" "+r.Verdict))
	}
	want := []string{
		"fast: CPU per job, whole life meets target",
		"fast: throughput misses target",
		"slow: CPU per job, whole life misses target",
		"slow: CPU per job, with the server's meets target",
		"slow: throughput",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheTableHasARowForEachFigure(t *testing.T) {
	r := report{Gateway: newSeries("here", []contender{{name: "plain"}, {name: "ours", product: true}})}
	r.Gateway.Rounds = []round{{{CPUPerJob: 1, Throughput: 1}, {CPUPerJob: 2, Throughput: 3, Memory: 65 << 20, FirstPoll: 99}}}
	r.Decision.Nanoseconds = []float64{7}
	var table, list bytes.Buffer
	if err := r.writeTable(&table); err != nil {
		t.Fatal(err)
	}
	if err := r.writeJSON(&list); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"here\n", "ours: throughput", "3.00 .. 3.00", "65.0", "misses target", "99", "meets target"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
	if !strings.Contains(list.String(), `"misses target"`) || !strings.Contains(list.String(), `"rounds"`) {
		t.Errorf("JSON lacks verdicts or rounds:\n%s", list.String())
	}
}
