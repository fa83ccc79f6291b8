package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

// printAnswer prints an answer as --json asks, or the text that says the same to a person.
func printAnswer(command *cobra.Command, asJSON bool, value any, text string) error {
	if asJSON {
		return printJSON(command, value)
	}
	_, err := fmt.Fprint(command.OutOrStdout(), text)
	return err
}

// printJSON prints a value as indented JSON, texts as they are.
func printJSON(command *cobra.Command, value any) error {
	encoder := json.NewEncoder(command.OutOrStdout())
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// printLine prints a value as one line of JSON, texts as they are.
func printLine(command *cobra.Command, value any) error {
	encoder := json.NewEncoder(command.OutOrStdout())
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
