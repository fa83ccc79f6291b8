package errtext

// index finds entries by their keys, which are hashes already, and none of them 0. A map takes twice the
// time, and filling it is most of a start.
type index struct {
	slots [1 << 16]slot
	used  int
}

type slot struct {
	key uint64 // 0 for none
	entry
}

// find returns the entry of a key, its zero value for none.
func (x *index) find(key uint64) *entry { return &x.slot(key).entry }

// add returns the entry of a key, to be changed.
func (x *index) add(key uint64) *entry {
	s := x.slot(key)
	if s.key == 0 {
		if 4*x.used > 3*len(x.slots) {
			panic("the tables have outgrown the index, which needs twice the slots")
		}
		s.key = key
		x.used++
	}
	return &s.entry
}

// slot returns the slot of a key, or the empty one where it would be.
func (x *index) slot(key uint64) *slot {
	const high = 32 // bits, which depend on all bits of a key
	for at := key * spread >> high; ; at++ {
		if s := &x.slots[at%uint64(len(x.slots))]; s.key == key || s.key == 0 {
			return s
		}
	}
}
