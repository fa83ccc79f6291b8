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

// LoadConfig reads the configuration, with a credentials file unless its path is empty, and tries the policies that it names. Its
// error is a [config.FaultsError] with the faults of both.
func LoadConfig(e config.Environment, credentials string) (config.Config, error) {
	cfg, err := config.LoadWithCredentials(e, credentials)
	found, _ := errors.AsType[config.FaultsError](err)
	if err != nil {
		cfg.PoliciesFile = e.PoliciesFile() // the rest is not known
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

// faultsOf returns each line of an error as a fault of the configuration, named after the setting unless that is empty.
func faultsOf(setting string, err error) config.FaultsError {
	var found config.FaultsError
	for fault := range strings.SplitSeq(err.Error(), "\n") {
		if setting != "" {
			fault = setting + ": " + fault
		}
		found = append(found, fault)
	}
	return found
}

// openPolicies reads the policies that the configuration names. Every job type's own policy must be among them. Its error
// is a [config.FaultsError].
func openPolicies(cfg config.Config) (*policy.Store, error) {
	var needed []string
	for _, jobType := range cfg.JobTypes {
		needed = append(needed, jobType.Policy)
	}
	store, err := policy.Open(cfg.PoliciesFile, needed...)
	if err == nil {
		return store, nil
	}
	setting := "" // the faults of a file name its lines
	if errors.Is(err, policy.ErrMissing) {
		setting = "RETRY_JOB_TYPES"
	} else if _, unread := errors.AsType[*fs.PathError](err); unread {
		setting = "RETRY_POLICIES_FILE"
	}
	return nil, faultsOf(setting, err)
}

// Policies returns the policies in force, each with its version: tiss@1a2b3c4d5e6f.
func (a *App) Policies() []string {
	var names []string
	for p := range a.policies.Current().All() {
		names = append(names, p.Name+"@"+p.Version())
	}
	return names
}

// listenForHangup keeps SIGHUP from ending the process while the worker is put together.
func (a *App) listenForHangup() {
	a.hangup = make(chan os.Signal, 1)
	signal.Notify(a.hangup, syscall.SIGHUP)
	a.later("stop listening for SIGHUP", func() error {
		signal.Stop(a.hangup)
		return nil
	})
}

// reloadPolicies says what is doubtful in the policies file, and reads it again whenever the process gets SIGHUP, until ctx
// ends.
func (a *App) reloadPolicies(ctx context.Context) {
	a.doubtPolicies()
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
	a.doubtPolicies()
}

// doubtPolicies says in one line of the log what lint finds in the policies file, but for what is often meant.
func (a *App) doubtPolicies() {
	const most = 20
	if a.cfg.PoliciesFile == "" {
		return
	}
	var found []string
	for _, f := range a.policies.Current().LintAll(a.cfg.PoliciesFile, 0) {
		if f.Severity != policy.SevereInformation {
			found = append(found, f.String())
		}
	}
	if found != nil {
		a.log.Warn("policies_doubtful", zap.Int("number", len(found)), zap.Strings("findings", found[:min(len(found), most)]))
	}
}
