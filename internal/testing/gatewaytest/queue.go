package gatewaytest

import (
	"slices"
	"time"
)

// queue holds what is to be activated of one job type, lowest key first on each partition as in the broker, and its locks
// by their end.
type queue struct {
	ready [][]int64 // by partition
	turn  int       // the partition with which the next poll begins
	locks []lock
}

// lock is one activation of a job. It stays in the queue when the job is answered and is passed over when it ends.
type lock struct {
	deadline time.Time
	key      int64
}

func (q *queue) pushReady(key int64) {
	ready := &q.ready[key>>partitionBits-1]
	i, _ := slices.BinarySearch(*ready, key)
	*ready = slices.Insert(*ready, i, key)
}

func (q *queue) pushLock(l lock) {
	i, _ := slices.BinarySearchFunc(q.locks, l.deadline, func(l lock, end time.Time) int { return l.deadline.Compare(end) })
	q.locks = slices.Insert(q.locks, i, l)
}

func (q *queue) popLock() (l lock) {
	l, q.locks = q.locks[0], q.locks[1:]
	return l
}
