package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"hospital.example/analyze-retry/internal/audit"
)

// commanding are characters with which a text can command a terminal, or show itself as another one.
var commanding = []string{
	"\u009b31m", "\u0085", "\u0090", "\u009d0;title\u009c", "\u0080", "\x7f", "\x1b[2J", "\x1b]0;t\a", "\r", "\b", "\u202a", "\u202b", "\u202c", "\u202d",
	"\u202e", "\u2066", "\u2067", "\u2068", "\u2069", "\u200e", "\u200f", "\u061c", "\u200b", "\u2028", "\u2029", "\ufeff", "\u00ad", "\U000e0041",
}

// wantHarmless fails where an output holds a character that commands a terminal.
func wantHarmless(t *testing.T, what, output string) {
	t.Helper()
	for _, r := range output {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%s prints %U: %q", what, r, output)
			return
		}
	}
}

// wantValue fails where none of the JSON values of an output holds a text.
func wantValue(t *testing.T, what, output, text string) {
	t.Helper()
	var values []any
	decoder := json.NewDecoder(strings.NewReader(output))
	for decoder.More() {
		var value any
		if err := decoder.Decode(&value); err != nil {
			t.Errorf("%s: %v: %s", what, err, output)
			return
		}
		values = append(values, value)
	}
	if !strings.Contains(fmt.Sprint(values...), text) {
		t.Errorf("%s: no value holds %q: %s", what, text, output)
	}
}

func TestNoStoredTextCommandsTheTerminal(t *testing.T) {
	all := strings.Join(commanding, " ")
	text := "HTTP 500 " + all + " fim"
	retried := decided{audit.KindRetry, waiting, "2026-01-12T09:58:00Z", text, "TRANSIENT", "TIMEOUT", 1, 10, 9}.record()
	stopped := decided{audit.KindPermanent, permanent, "2026-01-12T09:50:00Z", text, "PERMANENT", "X", 0, 0, 0}.record()
	stopped.Message = text
	// As text in a stored object, too, which is printed as it is stored.
	raw := strings.Map(func(r rune) rune {
		if r < ' ' || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, text)
	retried.Variables = `{"strange":"` + raw + `",` + strings.TrimPrefix(retried.Variables, "{")
	a := archived(t, keyed([]audit.Record{retried, stopped}))
	for args, values := range map[string][]string{
		"audit export " + waiting:      {text, raw},
		"audit export " + permanent:    {text},
		"history --json " + waiting:    {text, raw},
		"history --json " + permanent:  {text},
		"history " + waiting:           nil,
		"history " + permanent:         nil,
		"events tail --all":            {text},
		"claims --json":                nil,
		"claims":                       nil,
		"kpi --json":                   nil,
		"audit verify --json":          nil,
		"audit purge --dry-run --json": nil,
		"redrive --dry-run --status permanent --since 9000d --reason x --json": nil,
	} {
		code, stdout, stderr := a.run(t, strings.Fields(args)...)
		if code != 0 || stdout == "" {
			t.Errorf("%s: exit code %d, output %q, complaint %q", args, code, stdout, stderr)
		}
		wantHarmless(t, args, stdout)
		wantHarmless(t, args, stderr)
		for _, value := range values {
			wantValue(t, args, stdout, value)
		}
	}
}

func TestNoNameInTheDatabaseCommandsTheTerminal(t *testing.T) {
	a := archived(t, week())
	a.tamper(t, `CREATE INDEX "mine`+strings.Join(commanding, "")+`" ON records (kind)`)
	stdout := a.must(t, "audit", "verify")
	contains(t, "audit verify", stdout, "Note: index mine")
	wantHarmless(t, "audit verify", stdout)
}

func TestNoTextOfAPersonCommandsTheTerminal(t *testing.T) {
	strange, dir := strings.Join(commanding, ""), t.TempDir()
	write(t, filepath.Join(dir, "policies.yaml"), fmt.Sprintf(`policies:
  - {name: own, extends: tiss, base: 1m, description: %s, rules: [{id: x, class: TRANSIENT, contains: [A], source: %[1]s}]}
`, strconv.QuoteToASCII("text"+strange)))
	write(t, filepath.Join(dir, "broken.yaml"), fmt.Sprintf(`policies:
  - {name: own, extends: tiss, rules: [{id: %s, class: TRANSIENT, contains: [A]}]}
  - {name: %[1]s}
`, strconv.QuoteToASCII("id"+strange)))
	good, broken, named := filepath.Join(dir, "policies.yaml"), filepath.Join(dir, "broken.yaml"), filepath.Join(dir, "no"+strange+"file")
	for _, test := range []struct {
		args     []string
		settings []string
	}{
		{[]string{"policies", "lint", good}, nil},
		{[]string{"policies", "--file", good}, nil},
		{[]string{"policies", "--file", good, "--json"}, nil},
		{[]string{"policies", "--file", good, "own"}, nil},
		{[]string{"policies", "lint", broken}, nil},
		{[]string{"policies", "lint", broken, "--json"}, nil},
		{[]string{"policies", "--file", broken}, nil},
		{[]string{"policies", "lint", named}, nil},
		{[]string{"config"}, []string{"RETRY_POLICIES_FILE=" + broken}},
		{[]string{"config"}, []string{"RETRY_POLICIES_FILE=" + named}},
		{[]string{"config"}, []string{"RETRY_AUDIT_KEY_FILE=" + named}},
		{[]string{"config", "--json"}, []string{"RETRY_AUDIT_KEY_FILE=" + named}},
		{[]string{"config"}, []string{"ZEEBE_CA_CERTIFICATE_PATH=" + named, "RETRY_LOG_LEVEL=" + strange, "RETRY_" + "X" + strange + "=1", "ZEEBE_ADDRESS=a" + strange + ":1"}},
		{[]string{"explain", "--error", "TIMEOUT" + strange, "--json"}, nil},
		{[]string{"explain", "--error", "TIMEOUT" + strange}, nil},
		{[]string{"explain", "--policy", "no" + strange + "ne", "--error", "x"}, nil},
		{[]string{"simulate", "--outage", "1h", "--error", "TIMEOUT" + strange, "--claims", "2"}, nil},
		{[]string{"simulate", "--outage", "1h", "--error", "TIMEOUT" + strange, "--claims", "2", "--json"}, nil},
		{[]string{"no" + strange + "command"}, nil},
		{[]string{"claims", "--no" + strange}, nil},
		{[]string{"history", "CLM" + strange}, []string{"RETRY_DATABASE_URL=sqlite://" + named}},
	} {
		_, stdout, stderr := with(test.settings...).run(t, test.args...)
		if stdout+stderr == "" {
			t.Errorf("%q says nothing", test.args)
		}
		wantHarmless(t, strings.Join(test.args, " "), stdout+stderr)
	}
}
