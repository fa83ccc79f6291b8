package cli

import (
	"bytes"
	_ "embed" // of the table
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hospital.example/analyze-retry/internal/text"
)

// helpTable has the English of each paragraph and each flag of the help with its Portuguese.
//
//go:embed help.pt-BR.tsv
var helpTable string

// cobraTable has what cobra says itself, in help and of mistakes in a command line, with the Portuguese.
//
//go:embed cobra.pt-BR.tsv
var cobraTable string

// cobraInPortuguese puts that into Portuguese.
func cobraInPortuguese(words string) string {
	var pairs []string
	for row := range strings.Lines(cobraTable) {
		row = strings.ReplaceAll(strings.TrimSuffix(row, "\n"), `\n`, "\n")
		pairs = append(pairs, strings.Split(row, "\t")...)
	}
	return strings.NewReplacer(pairs...).Replace(words)
}

// helpIn has the help of all commands printed in the language of the person.
func (p *program) helpIn(root *cobra.Command) {
	root.InitDefaultHelpFlag() // or cobra takes what follows --help for its value
	english := root.HelpFunc()
	root.SetHelpFunc(func(command *cobra.Command, args []string) {
		printer, _ := p.printer() // what is wrong with a setting does not keep help from anybody
		if printer.Language() != text.Portuguese {
			english(command, args)
			return
		}
		translate(command)
		out := command.OutOrStdout()
		var b bytes.Buffer
		root.SetOut(&b)
		english(command, args)
		fmt.Fprint(out, cobraInPortuguese(b.String()))
	})
}

// translate puts the texts of a command's help into Portuguese.
func translate(command *cobra.Command) {
	table := map[string]string{}
	for row := range strings.Lines(helpTable) {
		english, portuguese, _ := strings.Cut(strings.TrimSpace(row), "\t")
		table[english] = portuguese
	}
	long := paragraphs(command.Long)
	for i, paragraph := range long {
		long[i] = text.Wrap(table[paragraph], "")
	}
	command.Long = strings.Join(long, "\n")
	for _, c := range append(command.Commands(), command) {
		if short, is := table[c.Short]; is {
			c.Short = short
		}
	}
	each := func(f *pflag.Flag) {
		if usage, is := table[f.Usage]; is {
			f.Usage = usage
		}
	}
	command.LocalFlags().VisitAll(each)
	command.InheritedFlags().VisitAll(each)
}

// paragraphs returns those of a text, each on one line.
func paragraphs(words string) (all []string) {
	if words == "" {
		return nil
	}
	for paragraph := range strings.SplitSeq(words, "\n\n") {
		all = append(all, strings.ReplaceAll(paragraph, "\n", " "))
	}
	return all
}
