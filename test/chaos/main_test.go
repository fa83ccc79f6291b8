// Package chaos breaks the worker, the broker, the network and the store on purpose, on real parts, and checks after
// every fault that nothing was lost, decided twice, forgotten or given away (invariants_test.go).
//
// Each test, and each row of TestSoak, is for one guard, which the comment above it names together with how it was seen to
// fail without it. A test also counts its fault and fails where none happened. SOAK=1h lets TestSoak run for so long instead
// of a minute.
package chaos

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/test/suite"
)

// binary is the worker under test.
var binary string

func TestMain(m *testing.M) {
	os.Exit(suite.Run("chaos", 3, func(worker string) (int, error) {
		binary = worker
		code := devpostgres.Main{M: m}.Run()
		return code, goleak.Find()
	}))
}
