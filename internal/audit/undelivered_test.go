package audit_test

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/audit"
)

func TestAnswersThatAStopLeavesOpenAreLogged(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		dead bool
		want []int64
	}{
		"one has been answered by another worker": {want: []int64{7}},
		"the store is away":                       {dead: true, want: []int64{7, 8}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logs *observer.ObservedLogs
			d := &disk{marked: []int64{7}, dead: tt.dead}
			record(t, d, func(r *recording) {
				logs = r.logs
				r.Gone(audit.Record{ID: 7, Key: audit.Key{JobKey: 7}, ClaimID: "CLM-001-7"})
				r.Gone(audit.Record{ID: 8, Key: audit.Key{JobKey: 8}, ClaimID: "CLM-001-8"})
				<-time.After(time.Second) // another worker may still be about to answer
			})
			var open []int64
			for _, line := range logs.FilterMessage("answer_left_open").All() {
				open = append(open, line.ContextMap()["jobKey"].(int64))
			}
			if !slices.Equal(open, tt.want) || len(d.appends) != 0 {
				t.Errorf("logged jobs %v, recorded %v, want %v and nothing", open, d.appends, tt.want)
			}
		})
	}
}
