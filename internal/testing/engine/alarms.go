package engine

import (
	"cmp"
	"slices"
	"time"
)

// alarm is something that happens by itself at a time.
type alarm struct {
	due  time.Time
	key  int64 // of what it belongs to: of two that are due at once the older one is first
	ring func()
}

// alarms are sorted, the next one first.
type alarms []*alarm

func (a alarms) find(one *alarm) (at int, there bool) {
	return slices.BinarySearchFunc(a, one, func(x, y *alarm) int {
		return cmp.Or(x.due.Compare(y.due), cmp.Compare(x.key, y.key))
	})
}

// set adds an alarm.
func (a *alarms) set(key int64, due time.Time, ring func()) *alarm {
	one := &alarm{due, key, ring}
	at, _ := a.find(one)
	*a = slices.Insert(*a, at, one)
	return one
}

// pop takes out the next one.
func (a *alarms) pop() *alarm {
	next := (*a)[0]
	*a = (*a)[1:]
	return next
}

// stop takes out an alarm, if it is there; nil is none.
func (a *alarms) stop(one *alarm) {
	if one == nil {
		return
	}
	if at, there := a.find(one); there {
		*a = slices.Delete(*a, at, at+1)
	}
}
