package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/terminal"
)

// What is printed may have been written by an insurer, by a model or by who wrote a file. It goes through [terminal], so that
// it cannot command the terminal that shows it.

// printAnswer prints an answer as --json asks, or the text that says the same to a person.
func printAnswer(command *cobra.Command, asJSON bool, value any, text string) error {
	if asJSON {
		return printJSON(command, value)
	}
	_, err := fmt.Fprint(command.OutOrStdout(), terminal.Text(text))
	return err
}

// printJSON prints a value as indented JSON, texts as they are.
func printJSON(command *cobra.Command, value any) error {
	return encode(command.OutOrStdout(), value, "  ")
}

// printLine prints a value as one line of JSON, texts as they are.
func printLine(command *cobra.Command, value any) error {
	return encode(command.OutOrStdout(), value, "")
}

func encode(w io.Writer, value any, indent string) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", indent)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(terminal.JSON(b.Bytes()))
	return err
}

// complain writes a line for a person to standard error.
func complain(stderr io.Writer, format string, args ...any) {
	fmt.Fprintln(stderr, terminal.Line(fmt.Sprintf(format, args...)))
}
