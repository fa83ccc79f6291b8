package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/term"
)

// deployed is one model or form on the broker. Its JSON form is stable.
type deployed struct {
	ProcessID string `json:"processId,omitempty"`
	FormID    string `json:"formId,omitempty"`
	Version   int32  `json:"version"`
	Key       int64  `json:"key"`
	Resource  string `json:"resource"`
}

func newDeploy() *cobra.Command {
	return withCredentials(withJSON(&cobra.Command{
		Use:   "deploy",
		Short: "Put the bundled process models and forms on the broker",
		Long: `Puts the process models that are part of this binary, and the forms of their
user tasks, on the cluster that the settings name (worker config), all of them
or none, and prints what became of each. One that has not changed since the
last time keeps its version.`,
		Args: noArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			cfg, err := loadConfig(command)
			if err != nil {
				return err
			}
			models, err := app.Deploy(command.Context(), cfg, bpmn.Resources())
			if err != nil {
				return err
			}
			list := make([]deployed, len(models))
			for i, m := range models {
				list[i] = deployed{ProcessID: m.ID, Version: m.Version, Key: m.Key, Resource: m.Resource}
				if m.Form {
					list[i].ProcessID, list[i].FormID = "", m.ID
				}
			}
			if asJSON(command) {
				return printJSON(command, list)
			}
			rows := [][]string{{"ID", "VERSION", "KEY", "FILE"}}
			for _, d := range list {
				rows = append(rows, []string{d.ProcessID + d.FormID, fmt.Sprint(d.Version), fmt.Sprint(d.Key), d.Resource})
			}
			return printText(command, term.Table("", rows))
		},
	}, "print a JSON array"))
}
