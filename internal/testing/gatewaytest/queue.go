package gatewaytest

import (
	"cmp"
	"container/heap"
	"time"
)

// queue holds what is to be activated of one job type, lowest key first on each partition as in the broker, and which
// locks run out when.
type queue struct {
	ready []keys // by partition
	turn  int    // the partition with which the next poll begins
	locks locks
}

type keys []int64

func (k keys) Len() int           { return len(k) }
func (k keys) Less(i, j int) bool { return cmp.Less(k[i], k[j]) }
func (k keys) Swap(i, j int)      { k[i], k[j] = k[j], k[i] }
func (k *keys) Push(x any)        { *k = append(*k, x.(int64)) }
func (k *keys) Pop() any          { return pop((*[]int64)(k)) }

// lock is one activation of a job. It stays in the heap when the job is answered and is passed over when it runs out.
type lock struct {
	deadline time.Time
	key      int64
}

type locks []lock

func (l locks) Len() int           { return len(l) }
func (l locks) Less(i, j int) bool { return l[i].deadline.Before(l[j].deadline) }
func (l locks) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *locks) Push(x any)        { *l = append(*l, x.(lock)) }
func (l *locks) Pop() any          { return pop((*[]lock)(l)) }

func pop[T any](s *[]T) T {
	last := len(*s) - 1
	x := (*s)[last]
	*s = (*s)[:last]
	return x
}

func (q *queue) pushReady(key int64) { heap.Push(&q.ready[key>>partitionBits-1], key) }
func (q *queue) pushLock(l lock)     { heap.Push(&q.locks, l) }
func (q *queue) popLock() lock       { return heap.Pop(&q.locks).(lock) }
