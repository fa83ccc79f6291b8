package cli_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

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

func TestEveryTextOfTheHelpIsInPortugueseOnce(t *testing.T) {
	known, flags, rows := map[string]bool{}, cli.FlagTexts(), map[string]int{}
	for _, row := range check.Rows(t, "help.tsv", 3) {
		of, english, portuguese := row[0], row[1], row[2]
		if of == "example" {
			of = english // which is said above it
		} else if known[english] || english == portuguese || portuguese == "" {
			t.Errorf("%q is there twice, or is not in Portuguese", english)
		} else {
			known[english] = true
			rows[of]++
		}
		if isCommand := slices.Contains(cli.Commands(), strings.TrimPrefix(of, "worker")); !isCommand && !flags[english] {
			t.Errorf("no command says %q", english)
		}
	}
	for words := range flags {
		if !known[words] {
			t.Errorf("%q is missing", words)
		}
	}
	for _, command := range cli.Commands() {
		group := slices.Contains([]string{" audit", " models"}, command)
		if n := rows["worker"+command]; n == 0 || n == 1 && !group {
			t.Errorf("of worker%s the help has no paragraph", command)
		}
	}
}

func TestAStoppedCommandSaysSo(t *testing.T) {
	a := archived(t, week())
	for _, args := range append(reading, []string{"audit", "purge", "--before", "2020-01-01", "--yes"}) {
		set(t, a.settings...)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		var out, complaints bytes.Buffer
		code := cli.Run(ctx, args, &out, &complaints)
		if code != 1 || complaints.String() != "worker: stopped before it was done; what was done until then stays\n" || out.Len() > 0 {
			t.Errorf("worker %s: exit code %d, output %q, complaint %q", args, code, &out, &complaints)
		}
	}
}
