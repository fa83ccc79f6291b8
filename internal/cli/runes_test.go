package cli_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// commanding are characters with which a text can command a terminal, or show itself as another one.
const commanding = "\u009b31m\u0085\u009d0;t\u009c\x7f\x1b[2J\r\b\u202e\u2066\u200b\u2028\ufeff\u00ad\U000e0041"

func TestNoTextOfAPersonCommandsTheTerminal(t *testing.T) {
	dir := t.TempDir()
	good, broken, named := filepath.Join(dir, "policies.yaml"), filepath.Join(dir, "broken.yaml"), filepath.Join(dir, "no"+commanding+"file")
	write(t, good, "policies: [{name: own, extends: tiss, description: "+strconv.QuoteToASCII("text"+commanding)+"}]")
	write(t, broken, "policies: [{name: "+strconv.QuoteToASCII("name"+commanding)+"}]")
	for _, args := range [][]string{
		{"policies", good},
		{"policies", "lint", broken},
		{"policies", "lint", named, "--json"},
		{"explain", "--error", "TIMEOUT" + commanding},
		{"explain", "--policy", "no" + commanding + "ne", "--error", "x"},
		{"simulate", "--outage", "1h", "--error", "TIMEOUT" + commanding, "--claims", "2"},
		{"no" + commanding + "command"},
		{"claims", "--no" + commanding},
		{"history", "CLM" + commanding},
	} {
		_, stdout, stderr := with("RETRY_DATABASE_URL=sqlite://"+named).run(t, args...)
		check.Same(t, "", unfit(stdout+stderr, false), "worker %q: a line that commands the terminal", args)
		if stdout+stderr == "" {
			t.Errorf("%q says nothing", args)
		}
	}
}
