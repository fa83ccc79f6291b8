package replay

// Held is of how many claims the replay keeps something.
func (r *Replay) Held() int { return len(r.claims) }
