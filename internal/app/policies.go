package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/policy"
)

// LoadConfig reads the configuration and, to try them, the policies that it names. Its error is a [config.FaultsError] with
// the faults of both.
func LoadConfig() (config.Config, error) {
	cfg, err := config.Load()
	found, are := errors.AsType[config.FaultsError](err)
	switch {
	case are:
		cfg.PoliciesFile = config.PoliciesFile() // the rest is not known
	case err != nil:
		return config.Config{}, err
	}
	if _, err := openPolicies(cfg); err != nil {
		more, _ := errors.AsType[config.FaultsError](err)
		found = append(found, more...)
	}
	if len(found) > 0 {
		return config.Config{}, found
	}
	return cfg, nil
}

// openPolicies reads the policies that the configuration names. Every job type's own policy must be among them. Its error
// is a [config.FaultsError].
func openPolicies(cfg config.Config) (*policy.Store, error) {
	store, err := policy.Open(cfg.PoliciesFile, needed(cfg)...)
	if err == nil {
		return store, nil
	}
	_, missing := errors.AsType[*policy.MissingError](err)
	_, unread := errors.AsType[*fs.PathError](err)
	var found config.FaultsError
	for fault := range strings.SplitSeq(err.Error(), "\n") {
		if missing {
			fault = "RETRY_JOB_TYPES: " + fault
		} else if unread {
			fault = "RETRY_POLICIES_FILE: " + fault
		}
		found = append(found, fault)
	}
	return nil, found
}

// needed are the names of the policies that the job types name.
func needed(cfg config.Config) []string {
	names := make([]string, len(cfg.JobTypes))
	for i, jobType := range cfg.JobTypes {
		names[i] = jobType.Policy
	}
	return names
}

// listenForHangup keeps a SIGHUP that comes while the worker is put together from ending the process.
func (a *App) listenForHangup() {
	a.hangup = make(chan os.Signal, 1)
	signal.Notify(a.hangup, syscall.SIGHUP)
	a.later("stop listening for SIGHUP", func() error {
		signal.Stop(a.hangup)
		return nil
	})
}

// reloadPolicies reads the policies file again whenever the process gets SIGHUP, until ctx ends.
func (a *App) reloadPolicies(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.hangup:
			a.reload()
		}
	}
}

// reload reads the policies file again. A file that is broken changes nothing.
func (a *App) reload() {
	if a.cfg.PoliciesFile == "" {
		a.log.Info("policies_not_reloaded", zap.String("detail", "RETRY_POLICIES_FILE names no file; the built-in policies do not change"))
		return
	}
	before := a.policies.Current().Version()
	err := a.policies.Reload()
	a.numbers.Reloaded(err == nil)
	if err != nil {
		a.log.Error("policies_reload_failed", zap.Error(fmt.Errorf("the policies in force stay: %w", err)))
		return
	}
	now := a.policies.Current()
	a.numbers.Know(now.All())
	a.log.Info("policies_reloaded", zap.Strings("policies", a.Policies()), zap.Bool("changed", now.Version() != before))
}
