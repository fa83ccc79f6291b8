package app

import (
	"fmt"
	"time"
)

// stepTimeout is how long a step of a stop may take once the jobs are done: longer than any waits for by itself. That is
// the relay, two seconds each for the queue, for the store, and for the server that gets the lead back.
const stepTimeout = 7 * time.Second

// within does a step of a stop, and leaves it behind when its time is over: a disk that hangs minds no context. The
// process ends then as in a crash, which loses nothing that was stored.
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
		return fmt.Errorf("%s: not done after %v and left behind; look whether what it waits for hangs, such as the store's disk", what, stepTimeout)
	}
}
