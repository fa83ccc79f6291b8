package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/term"
)

// What is printed may come from an insurer, a model or a file. It goes through [term], so that it cannot command the terminal.

// printAnswer prints an answer as JSON or as a text.
func printAnswer(command *cobra.Command, asJSON bool, value any, text string) error {
	if asJSON {
		return printJSON(command, value)
	}
	return printText(command, text)
}

// printText prints a text for a person.
func printText(command *cobra.Command, text string) error {
	_, err := fmt.Fprint(command.OutOrStdout(), term.Text(text))
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
	_, err := w.Write(term.JSON(b.Bytes()))
	return err
}

// complain writes a line to standard error.
func complain(stderr io.Writer, format string, args ...any) {
	fmt.Fprintln(stderr, term.Line(fmt.Sprintf(format, args...)))
}
