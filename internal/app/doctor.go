package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/audit/events/queue"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/ops"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// checkTimeout bounds each check.
const checkTimeout = 10 * time.Second

// checks are what the doctor looks at, in this order.
var checks = []func(context.Context, config.Config, time.Time) text.Findings{
	checkPolicies, checkModels, checkGateway, checkStore, checkQueue, checkWorker,
}

// Examine looks at everything that a worker with these settings needs, also while one runs, and passes on the
// findings of each check as soon as it is done. It changes nothing and takes no job.
func Examine(ctx context.Context, cfg config.Config, now func() time.Time, found func(text.Finding)) {
	for _, check := range checks {
		limited, cancel := context.WithTimeout(ctx, checkTimeout)
		for _, f := range check(limited, cfg, now()) {
			found(f)
		}
		cancel()
	}
}

func ok(check string, what text.Message) text.Finding {
	return text.Finding{Severity: text.OK, Check: check, What: what}
}

// failed is an error of a part.
func failed(check string, err error, advice text.Message) text.Finding {
	what := text.Messagef("%s", err)
	return text.Finding{Severity: text.Error, Check: check, What: what, Advice: advice}
}

func warning(check string, what, advice text.Message) text.Finding {
	return text.Finding{Severity: text.Warning, Check: check, What: what, Advice: advice}
}

func checkPolicies(_ context.Context, cfg config.Config, _ time.Time) (all text.Findings) {
	set, err := OpenPolicies(cfg.Policies)
	if err != nil {
		return text.Findings{failed("policies", err, text.Message{})}
	}
	for _, f := range set.Lint(0) {
		f.Check, f.Severity, f.File, f.Line = "policies", text.Warning, "", 0 // on one line, by its subject
		all = append(all, f)
	}
	return append(all, ok("policies", text.Messagef("%s", cfg.JobTypes.String())))
}

// checkModels names the jobs that no worker of ours takes. Whether somebody does, a broker does not say.
func checkModels(_ context.Context, cfg config.Config, _ time.Time) text.Findings {
	theirs := slices.DeleteFunc(bpmn.JobTypes(), func(jobType string) bool {
		return jobType == contract.OutcomeJobType || cfg.JobTypes[jobType] != ""
	})
	jobs := strings.Join(theirs, ", ")
	return text.Findings{ok("models", text.Messagef("the bundled ones wait for workers of yours: %s", jobs))}
}

// checkGateway looks at what is behind the gateway's address. It polls as the worker does, but for a job type
// that no job has.
func checkGateway(ctx context.Context, cfg config.Config, _ time.Time) text.Findings {
	client, err := dial(cfg)
	if err != nil {
		return text.Findings{failed("gateway", err, text.Message{})}
	}
	defer func() { _ = client.Close() }()
	address, strategy := cfg.Address(), cfg.AuthStrategy()
	topology, err := client.Topology(ctx)
	switch code := transport.Code(err); {
	case code == codes.Unauthenticated || code == codes.PermissionDenied:
		return text.Findings{failed("authentication", fmt.Errorf("%s: %w", strategy, err),
			text.Messagef("worker config shows the credentials; the cluster must know them: "+
				"docs/configuration.md"))}
	case err != nil:
		return text.Findings{failed("gateway", err, text.Messagef("ZEEBE_ADDRESS is read as %s, %s: check "+
			"host, port and TLS, and that the broker runs; "+
			"the address of the REST API begins with http:// or https://",
			address.String(), address.Transport()))}
	}
	partitions := ok("partitions",
		text.Messagef("%d of %d have a healthy leader", topology.Led, topology.Partitions))
	if !topology.Healthy() {
		partitions.Severity, partitions.Advice = text.Error, text.Messagef(
			"jobs wait: docs/runbooks.md#what-to-look-at")
	}
	all := text.Findings{
		ok("gateway", text.Messagef("%s, version %s, %s",
			address.String(), topology.Version, address.Transport())),
		ok("authentication", text.Messagef("%s: the gateway takes it", strategy)),
		partitions,
	}
	poll := transport.Poll{
		JobType:    "analyze-retry:none",
		Worker:     cfg.WorkerName,
		Max:        1,
		Wait:       -time.Millisecond,
		JobTimeout: time.Second,
		Tenant:     cfg.Tenant,
	}
	if err := client.Activate(ctx, poll, func([]job.Job) {}); err != nil {
		return append(all, failed("tenant", text.Messagef("a poll for %s fails: %s", cfg.Tenant, err),
			text.Messagef("correct RETRY_TENANT, or assign it to the worker's credentials: "+
				"docs/operations.md#permissions")))
	}
	return append(all, ok("tenant", text.Messagef("%s", cfg.Tenant)))
}

// checkStore looks at the store, the key and the chains' ends; worker audit verify reads every record.
func checkStore(ctx context.Context, cfg config.Config, now time.Time) (all text.Findings) {
	path := cfg.SQLitePath()
	secret, err := secretOf(cfg, path != "" && empty(path))
	switch {
	case err != nil:
		all = append(all, failed("key", err, text.Message{}))
	case secret == nil:
		return append(all, warning("store",
			text.Messagef("%s is not there yet, nor is its key", cfg.DatabaseURL.String()),
			text.Messagef("the first start of a worker makes both")))
	default:
		all = append(all, ok("key", text.Messagef("%s, in %s", secret.Public().ID(), cfg.AuditKey())))
	}
	advice := text.Messagef("decisions wait: docs/runbooks.md#retrystoredown")
	store, err := OpenHistory(ctx, cfg)
	if err != nil {
		return append(all, failed("store", err, advice))
	}
	defer func() { _ = store.Close() }()
	all = append(all, ok("store", text.Messagef("%s", cfg.DatabaseURL.String())))
	heads, _, err := store.Heads(ctx)
	if err != nil {
		return append(all, failed("trail", err, advice))
	}
	var last time.Time
	var records int64
	for _, h := range heads {
		records += h.Seq
		if h.At.After(last) {
			last = h.At
		}
	}
	if records == 0 {
		return append(all, ok("trail", text.Messagef("no record yet")))
	}
	trail := ok("trail", text.Messagef("%s in %s, the last of %s; worker audit verify reads every one",
		text.Messagef("%d records", records), text.Messagef("%d chains", len(heads)), last))
	if last.Sub(now) > cfg.MaxClockSkew {
		trail.Severity, trail.Advice = text.Error, text.Messagef(
			"set the clock right, or find who wrote with a wrong one")
	}
	return append(all, trail)
}

// checkQueue connects to the queue's hosts.
func checkQueue(ctx context.Context, cfg config.Config, _ time.Time) text.Findings {
	if cfg.EventsURL == "" {
		return text.Findings{ok("queue", text.Messagef("none is set: events stay in the store"))}
	}
	hosts, err := queue.Hosts(string(cfg.EventsURL))
	if err != nil {
		return text.Findings{failed("queue", err, text.Message{})}
	}
	dialer := net.Dialer{Timeout: checkTimeout / 3} // so that a host that is silent leaves time for others
	for _, host := range hosts {
		var conn net.Conn
		if conn, err = dialer.DialContext(ctx, "tcp", host); err == nil {
			_ = conn.Close()
			return text.Findings{ok("queue", text.Messagef("%s can be reached", cfg.EventsURL.String()))}
		}
	}
	advice := text.Messagef("events wait: docs/runbooks.md#retryoutboxgrowing")
	return text.Findings{failed("queue", err, advice)}
}

// checkWorker warns where none runs, and finds an error where one is not ready.
func checkWorker(ctx context.Context, cfg config.Config, _ time.Time) text.Findings {
	err := ops.Ask(ctx, httpOptions(cfg))
	if err == nil {
		return text.Findings{ok("worker", text.Messagef("ready"))}
	}
	f := failed("worker", err, text.Messagef(
		"once that is mended a worker goes on by itself: "+
			"restart it only to change a setting"))
	if of, is := errors.AsType[*net.OpError](err); is && of.Op == "dial" {
		f.Severity = text.Warning
		f.What = text.Messagef("no worker answers at %s: %s", cfg.HTTPAddress, of.Err)
		f.Advice = text.Messagef("none runs with these settings on this host: worker run")
	}
	return text.Findings{f}
}

// Ready asks the worker that runs with these settings on this host whether it is ready. The severity is
// [text.OK] or [text.Error].
func Ready(ctx context.Context, cfg config.Config) text.Finding {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	f := checkWorker(ctx, cfg, time.Time{})[0]
	if f.Severity == text.Warning {
		f.Severity = text.Error
	}
	return f
}
