package cli

import (
	"bytes"
	"cmp"
	_ "embed" // of the table
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hospital.example/analyze-retry/internal/text"
)

// helpTable has what help says in English and in Portuguese: of each command in brief, of each flag, and
// behind a command's name a paragraph about it.
//
//go:embed help.tsv
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
	standard := root.HelpFunc()
	root.SetHelpFunc(func(command *cobra.Command, args []string) {
		printer, _ := p.printer() // what is wrong with a setting does not keep help from anybody
		describe(command, printer.Language())
		if printer.Language() != text.Portuguese {
			standard(command, args)
			return
		}
		out := command.OutOrStdout()
		var b bytes.Buffer
		root.SetOut(&b)
		standard(command, args)
		fmt.Fprint(out, cobraInPortuguese(b.String()))
	})
}

// describe gives a command the texts of its help in a language.
func describe(command *cobra.Command, in text.Language) {
	var about []string
	said := map[string]string{}
	for row := range strings.Lines(helpTable) {
		columns := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		of, english, words := columns[0], columns[1], columns[2]
		if in == text.English {
			words = english
		}
		said[english] = words
		if of == command.CommandPath() {
			about = append(about, text.Wrap(words, ""))
		}
	}
	if about != nil || in != text.English { // else cobra says it of its own commands
		command.Long = strings.Join(about, "\n")
	}
	for _, c := range append(command.Commands(), command) {
		c.Short = cmp.Or(said[c.Short], c.Short)
	}
	each := func(f *pflag.Flag) { f.Usage = cmp.Or(said[f.Usage], f.Usage) }
	command.LocalFlags().VisitAll(each)
	command.InheritedFlags().VisitAll(each)
}
