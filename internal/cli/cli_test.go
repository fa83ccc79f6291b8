package cli_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/cli"
	"hospital.example/analyze-retry/internal/testing/check"
)

// reading are the command lines that read the store and change nothing.
var reading = [][]string{
	{"history", accepted},
	{"claims"},
	{"kpi"},
	{"report"},
	{"audit", "verify"},
	{"audit", "export", accepted},
	{"audit", "purge", "--before", "2020-01-01"},
}

func TestHelpIsShortAndFitsATerminal(t *testing.T) {
	commands := cli.Commands()
	if !slices.Contains(commands, " policies lint") {
		t.Fatalf("these are not all commands: %q", commands)
	}
	for _, language := range []struct{ name, usage, examples string }{
		{"en", "Usage", "Examples"},
		{"pt-BR", "Uso", "Exemplo"},
	} {
		for _, command := range commands {
			help := with().must(t, append(strings.Fields(command), "--help", "--lang", language.name)...)
			about, _, _ := strings.Cut(help, "\n"+language.usage+":")
			if found := unfit(help, true); found != "" || strings.Count(about, "\n") > 8 {
				t.Errorf("worker%s --help is longer than eight lines, or has the line %q:\n%s", command, found, about)
			}
			_, example, _ := strings.Cut(help, "\n"+language.examples+":\n")
			example, _, _ = strings.Cut(example, "\n\n")
			if example == "" || strings.Contains(example, "\n") {
				t.Errorf("worker%s --help has no example or more than one:\n%s", command, example)
			}
		}
	}
}

func TestEveryTextOfTheHelpIsInPortuguese(t *testing.T) {
	used := map[string]bool{}
	for words := range cli.FlagTexts() {
		used["flag "+words] = true
	}
	for _, command := range cli.Commands() {
		for _, group := range []string{"brief", "help", "example"} {
			used[group+" worker"+command] = true
		}
	}
	for line := range strings.Lines(read(t, "../text/pt-BR.tsv")) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		group, of, _ := strings.Cut(columns[0], " ")
		if len(columns) != 3 || !slices.Contains([]string{"brief", "help", "example", "flag"}, group) {
			continue
		}
		if !used[columns[0]] || group == "flag" && of != columns[1] {
			t.Errorf("no command says %q", columns[0])
		}
		if delete(used, columns[0]); columns[2] == "" || columns[1] == columns[2] != (group == "example") {
			t.Errorf("%q is not in Portuguese", columns[0])
		}
	}
	check.Same(t, map[string]bool{}, used, "what the help lacks")
}

func TestAStoppedCommandSaysSo(t *testing.T) {
	a := archived(t, week())
	for _, args := range append(reading, []string{"audit", "purge", "--before", "2020-01-01", "--yes"}) {
		set(t, a.settings...)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		var out, complaints bytes.Buffer
		code := cli.Run(ctx, time.Now, args, &out, &complaints)
		if code != 1 || complaints.String() != "worker: stopped before it was done; what was done until then stays\n" || out.Len() > 0 {
			t.Errorf("worker %s: exit code %d, output %q, complaint %q", args, code, &out, &complaints)
		}
	}
}
