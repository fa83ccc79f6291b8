package app

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// cleanup undoes one step of New.
type cleanup struct {
	what string
	do   func() error
}

// later registers the cleanup of a step.
func (a *App) later(what string, do func() error) {
	a.cleanups = append(a.cleanups, cleanup{what, do})
}

// last registers the cleanup of a step that is undone after all others.
func (a *App) last(what string, do func() error) {
	a.cleanups = slices.Insert(a.cleanups, 0, cleanup{what, do})
}

// close undoes the steps of New, the last one first.
func (a *App) close() error {
	var errs []error
	for _, step := range slices.Backward(a.cleanups) {
		errs = append(errs, within(step.what, step.do))
	}
	a.cleanups = nil
	return errors.Join(errs...)
}

// stepTimeout is how long a step of a stop may take once the jobs are done: longer than any waits for by itself. That is
// the relay, two seconds each for the queue, for the store, and for the server that gets the lead back.
const stepTimeout = 7 * time.Second

// within does a step of a stop, and gives up after stepTimeout, because a hung disk ignores contexts. The process ends then
// as in a crash, which loses nothing that was stored.
func within(what string, do func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- do() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	case <-time.After(stepTimeout):
		return fmt.Errorf("%s: not done after %v and left behind; check whether what it waits for hangs, such as the store's disk", what, stepTimeout)
	}
}
