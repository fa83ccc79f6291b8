package policy

import (
	"errors"
	"maps"
	"strings"
	"time"
)

// overridden is the default policy, whose numbers an [Override] replaces.
const overridden = "tiss"

// Override are the settings of RN-BIL-004 section 5.2, which take the place of the default policy's numbers;
// 0 leaves its own.
type Override struct {
	MaxRetries int
	// Base is the first wait, and the shortest: no jitter goes below it (RN-BIL-004 section 4.2). Max is the
	// longest.
	Base, Max time.Duration
}

// apply returns the set with the numbers of the override, as it is if they are faulty. Policies that extend
// the default one keep what they inherited.
func (o Override) apply(set *Set) (*Set, error) {
	before := set.entries[overridden]
	if o == (Override{}) || before == nil {
		return set, nil
	}
	e := *before
	if o.MaxRetries > 0 {
		e.MaxRetries = o.MaxRetries
	}
	if o.Base > 0 {
		e.Base, e.Min = Duration(o.Base), Duration(o.Base)
	}
	if o.Max > 0 {
		e.Max = Duration(o.Max)
	}
	settings, _ := e.settings() // the policy is there, so they have no fault
	var err error
	if e.policy, err = e.inherits().Extend(settings); err != nil {
		why := strings.ReplaceAll(err.Error(), "\n", "; ")
		return set, errors.New("RETRY_BASE_BACKOFF_MINUTES, RETRY_MAX_BACKOFF_MINUTES: " + why)
	}
	changed := maps.Clone(set.entries)
	changed[overridden] = &e
	return &Set{changed}, nil
}
