package cli_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/cli"
)

func TestTheHelpOfEveryCommandFitsATerminal(t *testing.T) {
	commands := cli.Commands()
	if !slices.Contains(commands, " policies lint") {
		t.Fatalf("these are not all commands: %q", commands)
	}
	for _, command := range commands {
		code, stdout, stderr := worker(t, append(strings.Fields(command), "--help"))
		if code != 0 || stdout == "" || stderr != "" {
			t.Errorf("worker%s --help: exit code %d, complaint %q", command, code, stderr)
		}
		checkScreen(t, stdout)
	}
}

func TestStoppedCommandReportsWhatItChanged(t *testing.T) {
	a := played(t)
	for command, want := range map[string]string{
		"simulate --outage 3h":  "worker: stopped before it was done; nothing was changed\n",
		"replay --policy tiss":  "worker: stopped before it was done; nothing was changed\n",
		"history CLM-early-1":   "worker: stopped before it was done; nothing was changed\n",
		"kpi":                   "worker: stopped before it was done; nothing was changed\n",
		"audit verify":          "worker: stopped before it was done; nothing was changed\n",
		"audit export CLM-1-1":  "worker: stopped before it was done; nothing was changed\n",
		"audit purge":           "worker: stopped before it was done; what was done until then stays\n",
		"audit purge --dry-run": "worker: stopped before it was done; nothing was changed\n",
		"events tail --all":     "worker: stopped before it was done; nothing was changed\n",
		"pending":               "worker: stopped before it was done; nothing was changed\n",
		"redrive --claim CLM-early-1 --reason why": "worker: stopped before it was done; what was done until then stays\n",
	} {
		set(t, a.settings...)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		var out, complaints bytes.Buffer
		if code := cli.Run(ctx, strings.Fields(command), &out, &complaints); code != 1 || complaints.String() != want || out.Len() > 0 {
			t.Errorf("worker %s: exit code %d, output %q, complaint %q", command, code, &out, &complaints)
		}
	}
}
