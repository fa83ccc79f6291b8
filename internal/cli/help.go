package cli

import (
	_ "embed" // of the table
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hospital.example/analyze-retry/internal/text"
)

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
	root.InitDefaultHelpFlag()            // or cobra takes what follows --help for its value
	describe(root, text.In(text.English)) // which a shell's completion shows
	root.SetHelpFunc(func(command *cobra.Command, _ []string) {
		printer, _ := p.printer() // what is wrong with a setting does not keep help from anybody
		describe(root, printer)
		help := strings.TrimSpace(command.Long) + "\n\n" + command.UsageString()
		if printer.Language() == text.Portuguese {
			help = cobraInPortuguese(help)
		}
		fmt.Fprint(command.OutOrStdout(), help)
	})
}

// describe gives a command and those below it the texts of their help, which the catalogue has by the path of
// the command and by the English of a flag.
func describe(c *cobra.Command, in *text.Printer) {
	if path := c.CommandPath(); in.Name("brief", path) != path {
		c.Short, c.Long, c.Example = in.Name("brief", path), "", "  "+in.Name("example", path)
		for paragraph := range strings.SplitSeq(in.Name("help", path), `\n`) {
			c.Long += text.Wrap("", paragraph) + "\n"
		}
	} else if in.Language() == text.Portuguese { // cobra's own, of which the short text is known
		c.Long = c.Short
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = in.Name("flag", f.Usage) })
	for _, below := range c.Commands() {
		describe(below, in)
	}
}
