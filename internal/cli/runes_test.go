package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// commanding are characters with which a text can command a terminal, or show itself as another one.
const commanding = "\u009b31m\u0085\u009d0;t\u009c\x7f\x1b[2J\r\b\u202e\u2066\u200b\u2028\ufeff\u00ad\U000e0041"

// Programs get the text as it is stored, escaped; terminals do not get it.
func TestNoStoredTextCommandsTheTerminal(t *testing.T) {
	text := "HTTP 500 " + commanding + " fim"
	retried := decided{audit.KindRetry, waiting, "2026-01-12T09:58:00Z", text, "TRANSIENT", "TIMEOUT", 1, 10, 9}.record()
	stopped := decided{audit.KindPermanent, permanent, "2026-01-12T09:50:00Z", text, "PERMANENT", "X", 0, 0, 0}.record()
	stopped.Message = text
	a := archived(t, keyed([]audit.Record{retried, stopped}))
	for args, kept := range map[string]bool{
		"audit export " + waiting: true, "history --json " + permanent: true,
		"history " + waiting: false, "history " + permanent: false, "claims": false, "audit verify --json": false,
	} {
		stdout := a.must(t, strings.Fields(args)...)
		check.Same(t, "", unfit(stdout, false), "worker %s: a line that commands the terminal", args)
		if kept && !strings.Contains(values(t, stdout), text) {
			t.Errorf("worker %s: no value holds the text: %s", args, stdout)
		}
	}
}

// values returns the values of a JSON output in Go's notation.
func values(t *testing.T, output string) (all string) {
	t.Helper()
	for decoder := json.NewDecoder(strings.NewReader(output)); decoder.More(); {
		var value any
		check.Must(t, decoder.Decode(&value))
		all += fmt.Sprint(value)
	}
	return all
}

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
