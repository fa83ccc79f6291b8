//go:build clients

package clients

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain names everything that is missing before it runs the first test. It unsets the settings of
// clients, which are those of the person who runs the tests.
func TestMain(m *testing.M) {
	var missing []string
	for _, program := range []string{"java", "javac", "mvn", "python3", "node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	if err := exec.Command("python3", "-m", "pip", "--version").Run(); err != nil {
		missing = append(missing, "pip (python3 -m pip)")
	}
	if missing != nil {
		fmt.Fprintf(os.Stderr,
			"test-clients needs a JDK (17), Maven, Python (3.10) with pip, and Node (20) with npm. Missing: %s\n",
			strings.Join(missing, ", "))
		os.Exit(1)
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "ZEEBE_") || strings.HasPrefix(name, "CAMUNDA_") {
			_ = os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}
