//go:build models

package e2e

import (
	"context"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// modeler starts a script of tools/models, which draws models in Camunda's modeler into a folder, and returns what waits for it. No
// script needs a broker: start it before [newBroker] waits for other tests.
func modeler(t *testing.T, script, folder string) (drawn func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	command := exec.CommandContext(ctx, "node", script, folder)
	command.Dir = "../../tools/models"
	var out []byte
	done := make(chan error, 1)
	go func() {
		var err error
		out, err = command.CombinedOutput()
		done <- err
	}()
	wait := sync.OnceValue(func() error { return <-done })
	t.Cleanup(func() {
		cancel()
		_ = wait() // the test has seen it, or has failed before
	})
	return func() {
		t.Helper()
		if err := wait(); err != nil {
			t.Fatalf("%s: %v (it needs Node 20, Chromium, and what `make lint-models` installs)\n%s", script, err, out)
		}
	}
}
