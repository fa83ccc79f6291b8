package cli_test

import (
	"strings"
	"testing"
)

func TestUnreadableFlagsAreReportedTogether(t *testing.T) {
	for args, want := range map[string]string{
		"explain --max-retries 2.5 --base 1q --json=perhaps": `worker: --max-retries is "2.5" but must be a whole number
worker: --base is "1q"; that is no duration such as 500ms, 90s, 5m or 24h, or PT5M
worker: --json is "perhaps" but must be true or false
How it is used: worker explain --help
`,
		"simulate --outage 3h+ --claims many --seed -1 --failure-rate x --outage 2h --svgg x": `worker: --outage is "3h+"; "" in it is no duration such as 500ms, 90s, 5m or 24h, or PT5M
worker: --claims is "many" but must be a whole number
worker: --seed is "-1" but must be a whole number, 0 or more
worker: --failure-rate is "x" but must be a number
worker: unknown flag: --svgg
How it is used: worker simulate --help
`,
		"redrive --wait 3 --since 7": `worker: --wait is "3" but must be a span of time such as 500ms, 90s, 5m or 24h
worker: --since is "7"; give a whole number of days, hours or minutes, such as 7d, 24h or 90m
How it is used: worker redrive --help
`,
		"explain --retry-count 99999999999999999999": `worker: --retry-count is "99999999999999999999", which is too large
How it is used: worker explain --help
`,
	} {
		code, stdout, stderr := worker(t, strings.Fields(args))
		if code != 2 || stdout != "" || stderr != want {
			t.Errorf("worker %s: exit code %d, output %q, complaint\n%swant\n%s", args, code, stdout, stderr, want)
		}
	}
}
