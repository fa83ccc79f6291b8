package audit_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

var noon = time.Date(2026, 1, 12, 12, 0, 0, 0, time.UTC)

func TestRecordsAreRemovedOnlyByAClockThatSomethingConfirms(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const year = 365 * 24 * time.Hour
	for name, test := range map[string]struct {
		clocks audit.Clocks
		by     string // what holds the removal; empty where nothing does
	}{
		"the broker agrees":                     {audit.Clocks{Host: now, Broker: now.Add(-time.Second)}, ""},
		"the broker is ahead":                   {audit.Clocks{Host: now, Broker: now.Add(year)}, ""},
		"a day ahead of the broker":             {audit.Clocks{Host: now.Add(24 * time.Hour), Broker: now, Head: now}, ""},
		"more than a day ahead of the broker":   {audit.Clocks{Host: now.Add(24*time.Hour + time.Second), Broker: now}, "broker"},
		"years ahead of the broker":             {audit.Clocks{Host: now.Add(5 * year), Broker: now, Head: now}, "broker"},
		"a head by the same wrong clock":        {audit.Clocks{Host: now.Add(5 * year), Broker: now, Head: now.Add(5 * year)}, "broker"},
		"an idle store, and the broker agrees":  {audit.Clocks{Host: now, Broker: now, Head: now.Add(-year)}, ""},
		"a fresh head, and no broker":           {audit.Clocks{Host: now, Head: now.Add(-23 * time.Hour)}, ""},
		"a head of the future, and no broker":   {audit.Clocks{Host: now, Head: now.Add(year)}, ""},
		"years ahead of the head, no broker":    {audit.Clocks{Host: now.Add(5 * year), Head: now}, "newest head"},
		"an idle store, and no broker":          {audit.Clocks{Host: now, Head: now.Add(-25 * time.Hour)}, "newest head"},
		"nothing to compare with":               {audit.Clocks{Host: now}, "neither the broker nor a signed head"},
		"a clock that jumped with the broker's": {audit.Clocks{Host: now, Broker: now, Head: now, Confirmed: now.AddDate(-5, 0, 0)}, "last found right"},
		"a pause of three months":               {audit.Clocks{Host: now, Broker: now, Confirmed: now.AddDate(0, -3, 0)}, ""},
		"farther ahead than a duration reaches": {audit.Clocks{Host: now.AddDate(2000, 0, 0), Broker: now}, "broker"},
	} {
		err := test.clocks.Check()
		held, is := errors.AsType[*audit.ClockError](err)
		if (err == nil) != (test.by == "") || is == (err == nil) || is && !strings.Contains(err.Error(), test.by) {
			t.Errorf("%s: %v", name, err)
		}
		if is && !held.Host.Equal(test.clocks.Host) {
			t.Errorf("%s: %+v", name, held)
		}
	}
}

func TestAHeadOfAnotherKeyTellsNoTime(t *testing.T) {
	mine, err := audit.NewSecret()
	must(t, err)
	other, err := audit.NewSecret()
	must(t, err)
	chain := audit.NewChain(1)
	moved := mine.Head(chain, noon)
	moved.At = noon.AddDate(9, 0, 0)
	heads := []audit.Head{mine.Head(chain, noon.Add(-time.Hour)), other.Head(chain, noon.AddDate(5, 0, 0)), mine.Head(chain, noon), moved, {}}
	if at := audit.HeadTime(heads, mine.Public()); !at.Equal(noon) {
		t.Errorf("the newest head is from %v, want %v", at, noon)
	}
	if at := audit.HeadTime(heads[1:2], mine.Public()); !at.IsZero() {
		t.Errorf("%v, want none", at)
	}
}
