package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/text"
)

// What is printed may come from an insurer, a model or a file. It goes through package text, so that it cannot command the terminal.

// withJSON adds the flag --json to a command.
func withJSON(command *cobra.Command, help string) *cobra.Command {
	command.Flags().Bool("json", false, help)
	return command
}

func asJSON(command *cobra.Command) bool {
	is, _ := command.Flags().GetBool("json")
	return is
}

// printAnswer prints an answer as a text, or with --json as JSON.
func printAnswer(command *cobra.Command, value any, s string) error {
	if asJSON(command) {
		return printJSON(command, value)
	}
	return printText(command, s)
}

// printText prints a text for a person.
func printText(command *cobra.Command, s string) error {
	_, err := fmt.Fprint(command.OutOrStdout(), text.Harmless(s))
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
	_, err := w.Write(text.HarmlessJSON(b.Bytes()))
	return err
}

// complainOf writes findings to standard error.
func complainOf(stderr io.Writer, findings text.Findings) {
	for i := range findings {
		fmt.Fprint(stderr, text.Harmless(findings[i].String()))
	}
}

// complain writes a line to standard error.
func complain(stderr io.Writer, format string, args ...any) {
	fmt.Fprintln(stderr, text.Line(fmt.Sprintf(format, args...)))
}
