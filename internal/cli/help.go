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

// cobrasWords are what cobra adds to them.
var cobrasWords = strings.NewReplacer(
	"\nUsage:\n", "\nUso:\n",
	"\nExamples:\n", "\nExemplo:\n",
	"\nAvailable Commands:\n", "\nComandos:\n",
	"\nFlags:\n", "\nOpções:\n",
	"\nGlobal Flags:\n", "\nOpções de todos os comandos:\n",
	"Help about any command", "Ajuda sobre um comando",
	" help for ", " ajuda de ",
	" version for ", " versão de ",
	" (default ", " (padrão ",
	" [flags]\n", " [opções]\n",
	" [command]", " [comando]",
	`Use "worker`, `"worker`,
	` for more information about a command.`, ` diz mais sobre um comando.`,
)

// cobrasMistakes are what cobra and our flags say of a command line.
var cobrasMistakes = strings.NewReplacer(
	"unknown command", "comando desconhecido",
	`" for "`, `" para "`,
	"unknown flag", "opção desconhecida",
	"unknown shorthand flag", "opção desconhecida",
	"flag needs an argument", "falta o argumento da opção",
	"invalid argument", "argumento inválido",
	`" flag: `, `": `,
	"required flag(s)", "falta a opção",
	" not set", "",
	"at least one of the flags in the group", "falta uma das opções",
	" is required", "",
	"if any flags in the group", "das opções",
	" are set none of the others can be; ", " só uma pode ser dada; foram dadas ",
	" were all set", "",
	"accepts at most ", "aceita no máximo ",
	"accepts ", "aceita ",
	"requires at least ", "precisa de pelo menos ",
	"arg(s), only received", "argumento(s), recebeu",
	"arg(s), received", "argumento(s), recebeu",
	"give days, hours or minutes, such as 7d, 24h or", "dê dias, horas ou minutos, como 7d, 24h ou",
	"give pt-BR or en", "dê pt-BR ou en",
)

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
		fmt.Fprint(out, cobrasWords.Replace(b.String()))
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
