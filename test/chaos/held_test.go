package chaos

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Row 12. The guard is the lock beside the file (internal/audit/sqlite: hold). Seen to fail without: the second process
// starts and works.
func TestASecondProcessOnTheFileIsRefusedAndToldWhoHoldsIt(t *testing.T) {
	const tries, figure = 5, time.Second
	r := newRig(t, setup{row: 12, what: "a second process on one file", store: inSQLite})
	first := r.start()
	r.submit(100)
	fastest, refused := time.Hour, 0
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // for one that is not refused
	defer cancel()
	for range tries {
		second := exec.CommandContext(ctx, binary, "run")
		second.Dir = r.dir
		second.Env = []string{
			"ZEEBE_ADDRESS=" + r.proxy.Address(), "ZEEBE_INSECURE_CONNECTION=true", "RETRY_HTTP_ADDRESS=127.0.0.1:0",
			"RETRY_DATABASE_URL=" + r.store.url, "RETRY_AUDIT_KEY_FILE=" + r.store.keyFile,
		}
		var said strings.Builder
		second.Stderr = &said
		r.must(second.Start())
		began := time.Now()
		err := second.Wait()
		fastest = min(fastest, time.Since(began))
		if exit, is := errors.AsType[*exec.ExitError](err); !is || exit.ExitCode() != 1 {
			t.Fatalf("the second process ended with %v: %s", err, said.String())
		}
		refused++
		for _, words := range []string{`worker "chaos-1"`, fmt.Sprintf("process %d", first.PID()), "SQLite is for one worker", "postgres://"} {
			if !strings.Contains(said.String(), words) {
				t.Errorf("the refusal does not say %q: %s", words, said.String())
			}
		}
	}
	if fastest >= figure { // the slowest ones are the machine's
		t.Errorf("the fastest refusal took %v", fastest)
	}
	if status, text := first.get("/healthz"); status != 200 || !first.Alive() {
		t.Errorf("the first one is hurt: %d %s", status, text)
	}
	r.submit(100)
	invariants(r)
	r.happened(refused, fmt.Sprintf("refusals, the fastest in %d ms", fastest.Milliseconds()))
}
