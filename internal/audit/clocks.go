package audit

import (
	"context"
	"fmt"
	"time"
)

// maxClockLead is how far the host's clock may be ahead of a reference for records to be removed by it.
const maxClockLead = 24 * time.Hour

// maxGap is how many months the host's clock may be ahead of the month in which it was confirmed last. A clock that the host
// shares with the broker can jump for both of them.
const maxGap = 4

// Clocks is what is known of the time when records are to be removed. A clock that is far ahead would make fresh records
// look old.
type Clocks struct {
	// Host is the time by which records would be removed.
	Host time.Time
	// Broker is the time by the broker's clock; zero if it is not known.
	Broker time.Time
	// Head is when the store was last written to, by its newest signed head; zero where no head is signed.
	Head time.Time
	// Confirmed is the month in which the clock was trusted last; zero where it never was; see [Confirm].
	Confirmed time.Time
}

// TrustClock returns a [*ClockError] where records of the store are not to be removed by the host's clock. It notes in the
// store that the clock was right where it was. broker is the time by the broker's clock, zero where it is not known.
func TrustClock(ctx context.Context, store Maintenance, key Public, host, broker time.Time) error {
	heads, err := store.Heads(ctx)
	if err != nil || len(heads) == 0 { // there is nothing to remove
		return err
	}
	confirmed, err := confirmedIn(ctx, store)
	if err != nil {
		return err
	}
	if err := (Clocks{Host: host, Broker: broker, Head: HeadTime(heads, key), Confirmed: confirmed}).Check(); err != nil {
		return err
	}
	return Confirm(ctx, store, host)
}

// ConfirmByHead notes in a store that never had a clock confirmed when it was last written to. It is called before the
// store is written to.
func ConfirmByHead(ctx context.Context, store Maintenance, key Public) error {
	confirmed, err := confirmedIn(ctx, store)
	if err != nil || !confirmed.IsZero() {
		return err
	}
	heads, err := store.Heads(ctx)
	if err != nil {
		return err
	}
	if at := HeadTime(heads, key); !at.IsZero() {
		return Confirm(ctx, store, at)
	}
	return nil
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
// left alone until the broker, or a new head, shows the time. Whatever they show, a clock that has gone ahead by more than
// three months since it was last confirmed is for a person to judge.
func (c Clocks) Check() error {
	e := &ClockError{Host: c.Host, Reference: c.Head, By: "the newest head of the audit trail"}
	if !c.Broker.IsZero() {
		e.Reference, e.By = c.Broker, "the broker's clock"
	}
	if e.Reference.IsZero() || c.Host.Sub(e.Reference) > maxClockLead {
		return e
	}
	if !c.Confirmed.IsZero() && c.Host.After(c.Confirmed.AddDate(0, maxGap, 0)) {
		return &ClockError{Host: c.Host, Reference: c.Confirmed, By: "the month in which the clock was last found right"}
	}
	return nil
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
	return fmt.Sprintf("no record is removed: the host's clock says %s, too far ahead of %s, which is %s; "+
		"correct the host's clock if it is wrong", e.Host.UTC().Format(layout), e.By, e.Reference.UTC().Format(layout))
}

const noteConfirmed = "confirmed "

// Confirm notes in the store that a clock was found right at a time: the month of it, in UTC.
func Confirm(ctx context.Context, store Maintenance, at time.Time) error {
	_, err := store.Note(ctx, noteConfirmed+at.UTC().Format("2006-01"))
	return err
}

// confirmedIn returns the latest month that was noted, zero where none was.
func confirmedIn(ctx context.Context, store Maintenance) (month time.Time, err error) {
	name, err := store.Noted(ctx, noteConfirmed)
	if err != nil || name == "" {
		return time.Time{}, err
	}
	if month, err = time.Parse(noteConfirmed+"2006-01", name); err != nil {
		return time.Time{}, fmt.Errorf("the row %.30q of meta names no month", name)
	}
	return month, nil
}
