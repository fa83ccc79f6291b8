package audit

import (
	"fmt"
	"time"
)

// MaxClockLead is how far the host's clock may be ahead of a reference for records to be removed by it.
const MaxClockLead = 24 * time.Hour

// Clocks is what is known of the time when records are to be removed. A clock that is far ahead would make fresh records
// look old.
type Clocks struct {
	// Host is the time by which records would be removed.
	Host time.Time
	// Broker is the time by the broker's clock; zero where the broker has not told it.
	Broker time.Time
	// Head is when the store was last written to, by its newest signed head; zero where no head is signed.
	Head time.Time
}

// HeadTime returns when the newest of the heads was signed that bear a signature of this key; zero where none does.
func HeadTime(heads []Head, key Public) (newest time.Time) {
	for _, h := range heads {
		if h.At.After(newest) && key.CheckHead(h) {
			newest = h.At
		}
	}
	return newest
}

// Check returns a [*ClockError] where the host's clock is not to be trusted. The broker's clock decides where it is known,
// else the newest head: nothing can have been recorded in the future. A store that was idle for more than a day is so
// left alone until the broker, or a new head, shows the time.
func (c Clocks) Check() error {
	e := &ClockError{Host: c.Host, Reference: c.Head, By: "the newest head of the audit trail"}
	if !c.Broker.IsZero() {
		e.Reference, e.By = c.Broker, "the broker's clock"
	}
	if !e.Reference.IsZero() && c.Host.Sub(e.Reference) <= MaxClockLead {
		return nil
	}
	return e
}

// ClockError says that the host's clock is too far ahead of a reference for records to be removed by it.
type ClockError struct {
	// Host is the time by the host's clock, Reference the time that it is compared with; it is zero where there is none.
	Host, Reference time.Time
	// By says what the reference is.
	By string
}

// Error names both times and what to do.
func (e *ClockError) Error() string {
	const layout = "2006-01-02T15:04:05Z"
	if e.Reference.IsZero() {
		return fmt.Sprintf("no record is removed: the host's clock says %s, and neither the broker nor a signed head says that it is right",
			e.Host.UTC().Format(layout))
	}
	return fmt.Sprintf("no record is removed: the host's clock says %s, but %s says %s, more than %.0f hours before; "+
		"correct the host's clock if it is wrong", e.Host.UTC().Format(layout), e.By, e.Reference.UTC().Format(layout), MaxClockLead.Hours())
}
