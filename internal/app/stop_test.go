package app

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"hospital.example/analyze-retry/internal/testing/check"
)

// Seen to fail without the bound: the test ends in a deadlock. A test in the package, because no disk of a test hangs
// for good.
func TestAStopEndsWhereAStepOfItHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		var done []string
		a := &App{}
		step := func(what string, err error) {
			a.later(what, func() error { done = append(done, what); return err })
		}
		step("first", errors.New("broken"))
		a.later("close the audit store", func() error { <-hangs; return nil })
		step("last", nil)
		err := a.close()
		check.Fails(t, err, "close the audit store: not done after 7s", "first: broken")
		check.Same(t, "last, first", strings.Join(done, ", "), "cleanups in order")
		close(hangs)
	})
}
