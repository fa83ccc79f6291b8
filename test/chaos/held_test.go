package chaos

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Row 12. The guard is the lock next to the file (internal/audit/sqlite: hold). Seen to fail without: the second process
// starts and works.
func TestSecondProcessOnTheFileIsRefused(t *testing.T) {
	const tries = 5
	r := newRig(t, setup{row: 12, what: "a second process on one file", store: inSQLite})
	first := r.start()
	r.submit(100)
	fastest := time.Hour
	for range tries {
		began := time.Now()
		text := r.isRefused("is in use by another process")
		fastest = min(fastest, time.Since(began))
		for _, words := range []string{"SQLite is for one worker", "postgres://"} {
			if !strings.Contains(text, words) {
				t.Errorf("the refusal does not say %q: %s", words, text)
			}
		}
	}
	if status, text := first.get("/healthz"); status != 200 || !first.Alive() {
		t.Errorf("the first one is hurt: %d %s", status, text)
	}
	r.submit(100)
	invariants(r)
	r.happened(tries, fmt.Sprintf("refusals, the fastest in %d ms", fastest.Milliseconds()))
}
