package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit/events/queue"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
)

// LoadConfig reads the settings, and tries the policies, the files and the queue that they name. Its error is
// a [text.Findings] with the faults of all.
func LoadConfig() (config.Config, error) {
	cfg, wrong := config.Load()
	_, noFiles := transport.Config{Cluster: cfg.Cluster}.TLS()
	_, noPolicies := OpenPolicies(cfg.Policies)
	var noQueue error
	if cfg.EventsURL != "" {
		_, noQueue = queue.Hosts(string(cfg.EventsURL))
	}
	var found text.Findings
	for _, err := range []error{wrong, noFiles, noQueue, noPolicies} {
		faults, are := errors.AsType[text.Findings](err)
		if found = append(found, faults...); are || err == nil {
			continue
		}
		for fault := range strings.SplitSeq(err.Error(), "\n") {
			what := text.Messagef("%s", fault)
			found = append(found, text.Finding{Severity: text.Error, Check: "settings", What: what})
		}
	}
	if found != nil {
		return config.Config{}, found
	}
	return cfg, nil
}

// OpenPolicies reads the policies that the settings name, with the numbers that they put in the place of the
// default policy's. Every job type's own policy must be among them.
func OpenPolicies(p config.Policies) (*policy.Set, error) {
	numbers := retry.Settings{
		MaxRetries: p.MaxRetries,
		Base:       retry.Duration(p.BaseBackoffMinutes) * retry.Duration(time.Minute),
		Max:        retry.Duration(p.MaxBackoffMinutes) * retry.Duration(time.Minute),
	}
	return policy.Open(p.PoliciesFile, numbers, slices.Sorted(maps.Values(p.JobTypes))...)
}

// Policies returns the names and versions of the policies in force.
func (a *App) Policies() []string { return a.policies.Load().Versions() }

// reloadPolicies logs what lint finds in the policies, and reads them again on every SIGHUP, until ctx ends.
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
	set, err := OpenPolicies(a.cfg.Policies)
	a.numbers.Reloaded(err == nil)
	if err != nil {
		a.log.Error("policies_reload_failed", zap.Error(fmt.Errorf("the policies in force stay: %w", err)))
		return
	}
	a.policies.Store(set)
	a.numbers.Know(set.All())
	a.log.Info("policies_reloaded", zap.Strings("policies", a.Policies()))
	a.doubtPolicies()
}

// doubtPolicies says in one line of the log what is doubtful in the policies.
func (a *App) doubtPolicies() {
	var found []string
	for _, f := range a.policies.Load().Lint(0) {
		found = append(found, f.OneLine())
	}
	if found != nil {
		a.log.Warn("policies_doubtful", zap.Strings("findings", found))
	}
}
