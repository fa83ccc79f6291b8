package cli

import (
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/app"
)

func (p *program) run() *cobra.Command {
	return p.does(&cobra.Command{Use: "run"}, nothing, func(c *call) error {
		cfg, err := app.LoadConfig()
		if err != nil {
			return err
		}
		log := app.NewLogger(cfg, c.OutOrStdout())
		defer app.CaptureLibraryLogs(log)()
		a, err := app.New(c.Context(), cfg, log, version)
		if err != nil {
			return err
		}
		log.Info("worker_started",
			zap.String("version", version),
			zap.String("workerName", cfg.WorkerName),
			zap.Stringer("gateway", cfg.Address()),
			zap.String("authentication", string(cfg.AuthStrategy())),
			zap.String("tenant", cfg.Tenant),
			zap.String("httpAddress", a.Addr()),
			zap.Int("maxJobsActive", cfg.MaxJobsActive),
			zap.Duration("jobTimeout", cfg.JobTimeout),
			zap.Stringer("store", cfg.DatabaseURL),
			zap.String("cluster", cfg.ClusterName),
			zap.Stringer("jobTypes", cfg.JobTypes),
			zap.Strings("policies", a.Policies()))
		if err := a.Run(c.Context()); err != nil {
			return err
		}
		log.Info("worker_stopped")
		return nil
	})
}
