//go:build clients

package clients

import (
	"os"
	"strings"
	"testing"
)

// TestMain unsets the settings of clients, which are those of the person who runs the tests. What the tests need, `make
// test-clients` names.
func TestMain(m *testing.M) {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "ZEEBE_") || strings.HasPrefix(name, "CAMUNDA_") {
			_ = os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}
