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
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/events/queue"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/text"
)

// LoadConfig reads the settings, with a credentials file unless its path is empty, and tries the policies,
// the files and the queue that they name. Its error is a [text.Faults] with the faults of all.
func LoadConfig(credentials string) (config.Config, error) {
	cfg, err := config.Load(credentials)
	found, _ := errors.AsType[text.Faults](err)
	add := func(setting string, err error) {
		if err != nil {
			found = append(found, faultsOf(setting, err)...)
		}
	}
	if err != nil {
		cfg.Policies, _ = config.Part[config.Policies]() // the rest is not known
	}
	_, err = openPolicies(cfg.Policies)
	add("", err)
	if len(found) == 0 {
		_, err = connection(cfg).TLS()
		add("", err)
	}
	if len(found) == 0 && cfg.EventsURL != "" {
		_, err = queue.Hosts(string(cfg.EventsURL))
		add("RETRY_EVENTS_URL", err)
	}
	if len(found) > 0 {
		return config.Config{}, found
	}
	return cfg, nil
}

// faultsOf returns each line of an error as a fault of the configuration, named after the setting unless that
// is empty.
func faultsOf(setting string, err error) text.Faults {
	var found text.Faults
	for fault := range strings.SplitSeq(err.Error(), "\n") {
		found = append(found, text.Finding{Severity: text.Error, Check: "settings", Subject: setting, What: fault})
	}
	return found
}

// OpenPolicies reads the policies that the settings name, with the numbers that they put in the place of the
// default policy's.
func OpenPolicies(p config.Policies, needed ...string) (*policy.Store, error) {
	return policy.OpenWith(policy.Override{
		MaxRetries: p.MaxRetries,
		Base:       time.Duration(p.BaseBackoffMinutes) * time.Minute,
		Max:        time.Duration(p.MaxBackoffMinutes) * time.Minute,
	}, p.PoliciesFile, needed...)
}

// openPolicies does so. Every job type's own policy must be among them. Its error is a [text.Faults].
func openPolicies(p config.Policies) (*policy.Store, error) {
	var needed []string
	for _, jobType := range p.JobTypes {
		needed = append(needed, jobType.Policy)
	}
	store, err := OpenPolicies(p, needed...)
	if err == nil {
		return store, nil
	}
	all := []error{err}
	if joined, are := err.(interface{ Unwrap() []error }); are {
		all = joined.Unwrap()
	}
	var found text.Faults
	for _, one := range all {
		found = append(found, faultsOf(settingOf(one), one)...)
	}
	return nil, found
}

// settingOf returns the setting that is to blame, empty for a fault of a file, which names its lines.
func settingOf(err error) string {
	if errors.Is(err, policy.ErrMissing) {
		return "RETRY_JOB_TYPES"
	}
	if _, unread := errors.AsType[*fs.PathError](err); unread {
		return "RETRY_POLICIES_FILE"
	}
	if _, wrong := errors.AsType[*policy.OverrideError](err); wrong {
		return "RETRY_BASE_BACKOFF_MINUTES, RETRY_MAX_BACKOFF_MINUTES"
	}
	return ""
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
		if f.Severity != text.Information {
			found = append(found, f.OneLine())
		}
	}
	if found != nil {
		a.log.Warn("policies_doubtful", zap.Int("number", len(found)), zap.Strings("findings", found[:min(len(found), most)]))
	}
}
