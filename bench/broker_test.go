package main

import (
	"testing"
	"time"
)

func TestTheThroughputIsTakenBetweenTwoLooks(t *testing.T) {
	const before, jobs = 7, 1000
	for name, tt := range map[string]struct {
		answered []int // at one look a second
		want     float64
	}{
		"without the beginning and the end":      {[]int{0, 50, 100, 500, 900, 950, 1000}, 400},
		"one look in between, so between all":    {[]int{0, 500, 1000}, 500},
		"no look in between, so between all":     {[]int{0, 50, 950, 1000}, 1000. / 3},
		"more than nine tenths at the first one": {[]int{950, 1000}, 50},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			var seen []progress
			for i, n := range tt.answered {
				seen = append(seen, progress{at: start.Add(time.Duration(i) * time.Second), answered: before + n})
			}
			if got := steady(seen, before, jobs); got != tt.want {
				t.Errorf("throughput %v, want %v", got, tt.want)
			}
		})
	}
}
