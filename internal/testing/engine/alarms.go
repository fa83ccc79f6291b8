package engine

import (
	"container/heap"
	"time"
)

// alarm is something that happens by itself at a time.
type alarm struct {
	due   time.Time
	key   int64 // of what it belongs to: of two that are due at once the older one is first
	ring  func()
	index int // in the heap; -1 where it is not there any more
}

// alarms are a heap with the next one first.
type alarms struct{ all []*alarm }

func (a *alarms) Len() int { return len(a.all) }

func (a *alarms) Less(i, j int) bool {
	if !a.all[i].due.Equal(a.all[j].due) {
		return a.all[i].due.Before(a.all[j].due)
	}
	return a.all[i].key < a.all[j].key
}

func (a *alarms) Swap(i, j int) {
	a.all[i], a.all[j] = a.all[j], a.all[i]
	a.all[i].index, a.all[j].index = i, j
}

func (a *alarms) Push(x any) {
	one := x.(*alarm)
	one.index = len(a.all)
	a.all = append(a.all, one)
}

func (a *alarms) Pop() any {
	last := len(a.all) - 1
	one := a.all[last]
	a.all, one.index = a.all[:last], -1
	return one
}

// set adds an alarm.
func (a *alarms) set(key int64, due time.Time, ring func()) *alarm {
	one := &alarm{due: due, key: key, ring: ring}
	heap.Push(a, one)
	return one
}

// pop takes out the next one.
func (a *alarms) pop() *alarm { return heap.Pop(a).(*alarm) }

// stop takes out an alarm, if it is there; nil is none.
func (a *alarms) stop(one *alarm) {
	if one != nil && one.index >= 0 {
		heap.Remove(a, one.index)
	}
}
