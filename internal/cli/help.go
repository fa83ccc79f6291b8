package cli

import (
	"cmp"
	_ "embed" // of the table
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hospital.example/analyze-retry/internal/text"
)

// helpTable has what help says in English and in Portuguese: of each command in brief, then in paragraphs, an
// example of it, and of each flag by its English what it is for.
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
	root.InitDefaultHelpFlag()   // or cobra takes what follows --help for its value
	describe(root, text.English) // which a shell's completion shows
	root.SetHelpFunc(func(command *cobra.Command, _ []string) {
		printer, _ := p.printer() // what is wrong with a setting does not keep help from anybody
		describe(root, printer.Language())
		help := strings.TrimSpace(cmp.Or(command.Long, command.Short)) + "\n\n" + command.UsageString()
		if printer.Language() == text.Portuguese {
			help = cobraInPortuguese(help)
		}
		fmt.Fprint(command.OutOrStdout(), help)
	})
}

// describe gives all commands the texts of their help in a language.
func describe(root *cobra.Command, in text.Language) {
	said, examples, flags := map[string][]string{}, map[string]string{}, map[string]string{}
	for row := range strings.Lines(helpTable) {
		columns := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		of, english, words := columns[0], columns[1], columns[2]
		if in == text.English {
			words = english
		}
		switch of {
		case "example":
			examples[english] = columns[2]
		case "flag":
			flags[english] = words
		default:
			said[of] = append(said[of], text.Wrap(words, ""))
		}
	}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if in != text.English {
			c.Long = "" // of cobra's own commands: there is none in another language
		}
		if words := said[c.CommandPath()]; words != nil {
			c.Short, c.Long = strings.TrimSpace(words[0]), strings.Join(words[1:], "\n")
			c.Example = "  " + examples[c.CommandPath()]
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = cmp.Or(flags[f.Usage], f.Usage) })
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(root)
}
