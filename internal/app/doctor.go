package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/events/queue"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/transport"
	"hospital.example/analyze-retry/internal/transport/rest"
)

// checkTimeout bounds each check of the doctor.
const checkTimeout = 5 * time.Second

// oldBacklog is how old an event may be that waits to be published.
const oldBacklog = 10 * time.Minute

// doctor looks at everything that a worker with these settings needs.
type doctor struct {
	cfg config.Config
	now func() time.Time
}

// Examine looks at everything that a worker with these settings needs, also while one runs, and passes on the findings of
// each check as soon as it is done. It changes nothing and takes no job.
func Examine(ctx context.Context, cfg config.Config, now func() time.Time, found func(text.Finding)) {
	d := doctor{cfg, now}
	for _, check := range []func(context.Context) text.Findings{d.settings, d.policies, d.cluster, d.store, d.queue, d.worker} {
		for _, f := range check(ctx) {
			found(f)
		}
	}
}

func ok(check, format string, args ...any) text.Finding {
	return text.Finding{Severity: text.OK, Check: check, What: fmt.Sprintf(format, args...)}
}

func bad(severity text.Severity, check, what, advice string) text.Finding {
	return text.Finding{Severity: severity, Check: check, What: what, Advice: advice}
}

func (d doctor) settings(context.Context) text.Findings {
	if d.cfg.Warnings == nil {
		return text.Findings{ok("settings", "no fault and no warning")}
	}
	return d.cfg.Warnings
}

func (d doctor) policies(context.Context) (all text.Findings) {
	store, err := openPolicies(d.cfg.Policies)
	if err != nil {
		return text.Findings{bad(text.Error, "policies", oneLine(err), "worker policies lint names every fault of the file")}
	}
	for _, f := range store.Current().LintAll(d.cfg.PoliciesFile, 0) {
		if f.Severity != text.Information {
			all = append(all, bad(text.Warning, "policies", f.OneLine(), f.Advice))
		}
	}
	return append(all, ok("policies", "%s", strings.NewReplacer("=", " by ", ",", ", ").Replace(d.cfg.JobTypes.String())))
}

// cluster looks at all that is behind the gateway's address.
func (d doctor) cluster(ctx context.Context) text.Findings {
	client, err := dial(d.cfg)
	if err != nil {
		return text.Findings{bad(text.Error, "gateway", oneLine(err), "")}
	}
	defer func() { _ = client.Close() }()
	address, strategy := d.cfg.Address(), d.cfg.AuthStrategy()
	topology, err := ask(ctx, client.Topology)
	switch code := transport.Code(err); {
	case code == codes.Unauthenticated || code == codes.PermissionDenied:
		return text.Findings{
			ok("gateway", "%s answers, %s", address, address.Transport()),
			bad(text.Error, "authentication", fmt.Sprintf("%s: %s", strategy, oneLine(err)), authAdvice[strategy]),
		}
	case err != nil:
		advice := "check host, port and TLS, and that the broker runs"
		if found := rest.Found(ctx, connection(d.cfg)); found != "" {
			advice = "the REST API answers at " + found
		}
		return text.Findings{bad(text.Error, "gateway", oneLine(err), fmt.Sprintf("ZEEBE_ADDRESS is read as %s, %s: %s", address, address.Transport(), advice))}
	}
	all := text.Findings{
		ok("gateway", "%s, version %s, %s", address, cmp.Or(topology.Version, "unknown"), address.Transport()),
		ok("authentication", "%s: the gateway takes it", strategy),
	}
	if topology.Healthy() {
		all = append(all, ok("partitions", "%d, each with a healthy leader", topology.Partitions))
	} else {
		all = append(all, bad(text.Error, "partitions", fmt.Sprintf("%d of %d have a healthy leader", topology.Led, topology.Partitions),
			"jobs of the others wait: docs/runbooks.md#what-to-look-at"))
	}
	return append(append(all, d.tenant(ctx, client)...), d.models(ctx, client)...)
}

var authAdvice = map[config.AuthStrategy]string{
	config.AuthOIDC:  "check client id, secret, token URL and audience (worker config shows them), and that the client is known to the cluster",
	config.AuthBasic: "check CAMUNDA_BASIC_AUTH_USERNAME and its password, and that the user is known to the cluster",
	config.AuthNone:  "the gateway asks for credentials: set those of Basic or OIDC (docs/configuration.md)",
}

// probeType is a job type that no job has.
const probeType = "analyze-retry:none"

// tenant polls for a job type that no job has, as the worker polls.
func (d doctor) tenant(ctx context.Context, client transport.Client) text.Findings {
	_, err := ask(ctx, func(ctx context.Context) (any, error) {
		return nil, client.Activate(ctx, transport.Poll{
			JobType: probeType, Worker: d.cfg.WorkerName, Max: 1, Wait: -time.Millisecond, Lock: time.Second, Tenant: d.cfg.Tenant,
		}, func([]job.Job) {})
	})
	switch code := transport.Code(err); {
	case code == codes.PermissionDenied || code == codes.InvalidArgument:
		return text.Findings{bad(text.Error, "tenant", fmt.Sprintf("a poll for %s is refused: %s", d.cfg.Tenant, oneLine(err)),
			"assign it to the worker's credentials, or correct RETRY_TENANT; without multi-tenancy it is "+job.DefaultTenant)}
	case err != nil:
		return text.Findings{bad(text.Error, "tenant", fmt.Sprintf("a poll for %s fails: %s", d.cfg.Tenant, oneLine(err)), "docs/runbooks.md#retrygatewayunreachable")}
	case d.cfg.AuthStrategy() == config.AuthNone:
		return text.Findings{ok("tenant", "%s", d.cfg.Tenant)}
	}
	return text.Findings{ok("tenant", "%s", d.cfg.Tenant), bad(text.Unknown, "permissions", "polls are allowed; a cluster with authorizations shows "+
		"a missing UPDATE_PROCESS_INSTANCE only by jobs that do not come", "docs/operations.md has the permissions by command")}
}

// models compares the bundled models with what is deployed, where the protocol can read that, and lints others.
func (d doctor) models(ctx context.Context, client transport.Client) (all text.Findings) {
	reader, can := client.(*rest.Client)
	if !can {
		return text.Findings{bad(text.Unknown, "models", "gRPC cannot read what is deployed", "use a REST address for this command, or look at Operate")}
	}
	var deployed []modellint.File
	for _, m := range bpmn.Models() {
		got, err := ask(ctx, func(ctx context.Context) (rest.Definition, error) {
			return reader.Definition(ctx, d.cfg.Tenant, m.ProcessID)
		})
		version := fmt.Sprintf("%s version %d", m.ProcessID, got.Version)
		switch {
		case transport.Code(err) == codes.NotFound:
			all = append(all, bad(text.Warning, "models", m.ProcessID+" is not deployed, or these credentials may not read it",
				"worker deploy, unless your own models call the tasks"))
		case err != nil:
			all = append(all, bad(text.Unknown, "models", m.ProcessID+": "+oneLine(err), ""))
		case string(got.XML) == string(m.Content):
			all = append(all, ok("models", "%s is that of this release", version))
		default:
			all = append(all, bad(text.Warning, "models", version+" is not the model of this release", "compare it with bpmn/"+m.Name+", then worker deploy"))
			deployed = append(deployed, modellint.File{Name: version, Content: got.XML})
		}
	}
	store, err := openPolicies(d.cfg.Policies)
	if err != nil {
		return all // that is an error of its own
	}
	for _, f := range LintModels(deployed, d.cfg.JobTypes, store.Current()) {
		if f.Severity != text.Information {
			all = append(all, bad(text.Warning, "models", strings.Join(strings.Fields(fmt.Sprintf("%s, %s %s: %s", f.File, f.Check, f.Subject, f.What)), " "),
				"worker models lint of its file has what to do about it"))
		}
	}
	return all
}

// store looks at the store, the key and the chain, as far as that is done in a moment; worker audit verify reads every record.
func (d doctor) store(ctx context.Context) (all text.Findings) {
	secret, err := audit.LoadSecret(d.cfg.AuditKey())
	switch {
	case errors.Is(err, fs.ErrNotExist) && d.cfg.AuditKeyFile == "" && d.cfg.SQLitePath() != "" && empty(d.cfg.SQLitePath()):
		return text.Findings{bad(text.Warning, "store", fmt.Sprintf("%s does not exist yet, nor does its key", d.cfg.DatabaseURL), "the first start of a worker makes both")}
	case err != nil:
		all = append(all, bad(text.Error, "key", oneLine(err), "restore the key from its backup: without it the trail cannot be continued"))
	default:
		all = append(all, ok("key", "%s, in %s", secret.Public().ID(), d.cfg.AuditKey()))
	}
	ctx, cancel := context.WithTimeout(ctx, 2*checkTimeout)
	defer cancel()
	store, err := OpenHistory(ctx, d.cfg)
	if err != nil {
		return append(all, bad(text.Error, "store", oneLine(err), "docs/runbooks.md#retrystoredown"))
	}
	defer func() { _ = store.Close() }()
	all = append(append(all, ok("store", "%s", d.cfg.DatabaseURL)), d.chain(ctx, store, secret)...)
	if d.cfg.EventsURL != "" {
		all = append(all, d.backlog(ctx, store))
	}
	return all
}

func (d doctor) chain(ctx context.Context, store audit.Store, secret *audit.Secret) text.Findings {
	heads, _, err := store.Heads(ctx)
	if err != nil {
		return text.Findings{bad(text.Error, "chain", oneLine(err), "docs/runbooks.md#what-to-look-at")}
	}
	var last time.Time
	var records int64
	for _, h := range heads {
		if secret != nil && h.Seq > 0 && !secret.Public().CheckHead(h) {
			return text.Findings{bad(text.Error, "chain", fmt.Sprintf("the head of chain %d is not signed with the key %s", h.Chain, secret.Public().ID()),
				"docs/runbooks.md#auditchainbroken")}
		}
		records += h.Seq
		if h.At.After(last) {
			last = h.At
		}
	}
	all := text.Findings{ok("chain", "%s, %s; worker audit verify reads every record", text.Count(len(heads), "chain"), text.Count(records, "record"))}
	if behind := behindTrail(heads, d.now(), d.cfg.MaxClockSkew); records > 0 && behind != nil {
		return append(all, bad(text.Error, "last record", behind.Error(), "docs/runbooks.md#what-to-look-at"))
	}
	if records > 0 {
		all = append(all, ok("last record", "%s, %s ago", text.Time(last), d.now().Sub(last).Round(time.Second)))
	}
	return all
}

func (d doctor) backlog(ctx context.Context, store audit.Store) text.Finding {
	waiting, oldest, err := store.Backlog(ctx)
	switch {
	case err != nil:
		return bad(text.Unknown, "outbox", oneLine(err), "")
	case waiting > 0 && d.now().Sub(oldest) > oldBacklog:
		return bad(text.Warning, "outbox", fmt.Sprintf("%s waiting to be published, the oldest for %s", text.Count(waiting, "event"),
			d.now().Sub(oldest).Round(time.Second)), "docs/runbooks.md#retryoutboxgrowing")
	}
	return ok("outbox", "%s waiting to be published", text.Count(waiting, "event"))
}

// queue connects to the queue's hosts. Whether it takes events shows in the outbox.
func (d doctor) queue(ctx context.Context) text.Findings {
	if d.cfg.EventsURL == "" {
		return text.Findings{ok("queue", "none is set: events stay in the store")}
	}
	hosts, err := queue.Hosts(string(d.cfg.EventsURL))
	if err != nil {
		return text.Findings{bad(text.Error, "queue", "RETRY_EVENTS_URL "+oneLine(err), "")}
	}
	var failed []string
	for _, host := range hosts {
		conn, err := ask(ctx, func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", host) })
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			failed = append(failed, oneLine(err))
		}
	}
	severity := text.Warning
	switch len(failed) {
	case 0:
		return text.Findings{ok("queue", "%s can be reached", d.cfg.EventsURL)}
	case len(hosts):
		severity = text.Error
	}
	return text.Findings{bad(severity, "queue", strings.Join(failed, "; "), "events wait in the store meanwhile: docs/runbooks.md#retryoutboxgrowing")}
}

// worker asks the worker that runs with these settings. It knows the broker's clock, which shows only in jobs.
func (d doctor) worker(ctx context.Context) text.Findings {
	if strings.HasSuffix(d.cfg.HTTP.Address, ":0") {
		return text.Findings{bad(text.Unknown, "worker", "RETRY_HTTP_ADDRESS lets it choose a port", "")}
	}
	_, err := ask(ctx, func(ctx context.Context) (any, error) { return nil, AskReady(ctx, d.cfg) })
	switch {
	case err == nil:
		return text.Findings{ok("worker", "ready: store, gateway, clocks and polls are as they should be")}
	case strings.HasPrefix(err.Error(), "no worker answers"):
		return text.Findings{bad(text.Warning, "worker", oneLine(err), "none runs with these settings on this host; start it with: worker run")}
	case strings.HasPrefix(err.Error(), "not ready"):
		return text.Findings{bad(text.Error, "worker", oneLine(err), "it continues by itself when that is mended: do not restart it")}
	}
	return text.Findings{bad(text.Error, "worker", oneLine(err), "check RETRY_HTTP_ADDRESS and its certificate: they are those of the worker")}
}

// ask bounds a check.
func ask[T any](ctx context.Context, check func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return check(ctx)
}

// rpcError matches what gRPC puts before the text of an error.
var rpcError = regexp.MustCompile(`rpc error: code = \w+ desc = `)

// oneLine returns an error's text for a person.
func oneLine(err error) string {
	return rpcError.ReplaceAllString(strings.Join(strings.Fields(err.Error()), " "), "")
}
