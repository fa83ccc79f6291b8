package devpostgres

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

// startTimeout bounds the start of the shared server on a busy machine.
const startTimeout = 2 * time.Minute

// shared is the one server of a test binary, started by the first test that wants a database.
var shared struct {
	sync.Mutex
	server *Server
	err    error
}

// Main runs the tests of a package and then stops the server that its tests shared. Where leaks are looked for it goes
// inside: goleak.VerifyTestMain(devpostgres.Main{M: m}).
type Main struct{ *testing.M }

// Run is testing.M's.
func (m Main) Run() int {
	code := m.M.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		return code
	}
	if err := shared.server.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the shared PostgreSQL:", err)
		code = max(code, 1)
	}
	return code
}

// Database returns the URL of a new, empty database for one test, on the server that all tests of the package share. The
// package's TestMain must use [Main]. Without a PostgreSQL on this machine the test fails.
func Database(tb testing.TB) string {
	tb.Helper()
	url, err := Shared(tb).NewDatabase(tb.Context())
	check.Must(tb, err)
	return url
}

// Shared returns the server of [Database], for tests that create roles of their own. They must not stop it.
func Shared(tb testing.TB) *Server {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		ctx, cancel := context.WithTimeout(tb.Context(), startTimeout)
		defer cancel()
		shared.server, shared.err = Start(ctx)
	}
	if shared.err != nil {
		tb.Fatalf("start the shared PostgreSQL: %v", shared.err)
	}
	return shared.server
}
