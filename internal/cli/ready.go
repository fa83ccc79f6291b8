package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/text"
)

// readiness is whether a worker is ready. Its JSON form is stable.
type readiness struct {
	Ready bool `json:"ready"`
	// Reason is why it is not ready.
	Reason string `json:"reason,omitempty"`
}

func newReady() *cobra.Command {
	command := withJSON(&cobra.Command{
		Use:   "ready",
		Short: "Ask the worker that runs here whether it is ready",
		Long: `Asks /readyz of the worker that runs with the same settings on this host or in
this container, and prints "ready", or the reason why it is not. It needs no
shell and no curl, so health checks and kubectl exec can call it.`,
		Example: `  kubectl exec deploy/analyze-retry -- /worker ready`,
		Args:    noArgs,
	}, "print one JSON object")
	timeout := command.Flags().Duration("timeout", 3*time.Second, "how long to wait for the answer")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if *timeout <= 0 {
			return usageError{fmt.Errorf("--timeout is %s but must be more than 0s", *timeout)}
		}
		cfg, err := loadConfig(command)
		if err != nil {
			return err
		}
		if strings.HasSuffix(cfg.HTTP.Address, ":0") {
			return fmt.Errorf("RETRY_HTTP_ADDRESS is %s, so the worker has chosen a free port: its log names it (worker_started, httpAddress); give that here",
				cfg.HTTP.Address)
		}
		ctx, cancel := context.WithTimeout(command.Context(), *timeout)
		defer cancel()
		if f := app.Ready(ctx, cfg); f.Severity != text.OK {
			err := errors.New(f.What)
			if asJSON(command) {
				return cmp.Or(printJSON(command, readiness{Reason: err.Error()}), err)
			}
			return err
		}
		return printAnswer(command, readiness{Ready: true}, "ready\n")
	}
	return command
}
