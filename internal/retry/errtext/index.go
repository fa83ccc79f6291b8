package errtext

// index finds values by their keys, which are hashes already, and none of them 0. A map takes twice the time,
// and filling it is most of a start.
type index[V any] struct {
	slots []slot[V] // a power of two
	used  int
}

type slot[V any] struct {
	key   uint64 // 0 for none
	value V
}

func newIndex[V any](slots int) *index[V] { return &index[V]{slots: make([]slot[V], slots)} }

// find returns the value of a key, its zero value for none.
func (x *index[V]) find(key uint64) *V { return &x.slot(key).value }

// add returns the value of a key, to be changed. It holds until the next key comes in.
func (x *index[V]) add(key uint64) *V {
	s := x.slot(key)
	if s.key == 0 {
		if 4*x.used > 3*len(x.slots) {
			x.grow()
			s = x.slot(key)
		}
		s.key = key
		x.used++
	}
	return &s.value
}

// slot returns the slot of a key, or the empty one where it would be.
func (x *index[V]) slot(key uint64) *slot[V] {
	const high = 32 // bits, which depend on all bits of a key
	mask := uint64(len(x.slots) - 1)
	for at := key * spread >> high; ; at++ {
		if s := &x.slots[at&mask]; s.key == key || s.key == 0 {
			return s
		}
	}
}

func (x *index[V]) grow() {
	old := x.slots
	x.slots = make([]slot[V], 2*len(old))
	for i := range old {
		if key := old[i].key; key != 0 {
			*x.slot(key) = old[i]
		}
	}
}
