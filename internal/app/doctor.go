package app

import (
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
	"hospital.example/analyze-retry/internal/ops"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/transport"
	"hospital.example/analyze-retry/internal/transport/rest"
)

// checkTimeout bounds each check of the doctor.
const checkTimeout = 5 * time.Second

// oldBacklog is how old an event may be that waits to be published.
const oldBacklog = 10 * time.Minute

// doctor looks at everything that a worker with this configuration needs. It changes nothing and takes no job.
type doctor struct {
	cfg      config.Config
	now      func() time.Time
	diagnose func(text.Finding)
}

// Examine looks at everything that a worker with this configuration needs, also while one runs, and passes each finding on as
// soon as it is made. It changes nothing and takes no job.
func Examine(ctx context.Context, cfg config.Config, now func() time.Time, diagnose func(text.Finding)) {
	d := doctor{cfg, now, diagnose}
	d.settings()
	d.policies()
	d.cluster(ctx)
	d.store(ctx)
	d.queue(ctx)
	d.worker(ctx)
}

func (d doctor) say(severity text.Severity, check, what, advice string) {
	d.diagnose(text.Finding{Severity: severity, Check: check, What: what, Advice: advice})
}

func (d doctor) settings() {
	for _, warning := range d.cfg.Warnings() {
		d.say(text.Warning, "settings", warning, "")
	}
	if len(d.cfg.Warnings()) == 0 {
		d.say(text.OK, "settings", "no fault and no warning", "")
	}
}

func (d doctor) policies() {
	store, err := openPolicies(d.cfg.Policies)
	if err != nil {
		d.say(text.Error, "policies", oneLine(err), "worker policies lint names every fault of the file")
		return
	}
	var names []string
	for _, t := range d.cfg.JobTypes {
		names = append(names, t.Type+" by "+t.Policy)
	}
	for _, f := range store.Current().LintAll(d.cfg.PoliciesFile, 0) {
		if f.Severity != policy.SevereInformation {
			d.say(text.Warning, "policies", f.Problem, f.Advice)
		}
	}
	d.say(text.OK, "policies", strings.Join(names, ", "), "")
}

// cluster looks at all that is behind the gateway's address.
func (d doctor) cluster(ctx context.Context) {
	address := d.cfg.Address()
	client, err := dial(d.cfg)
	if err != nil {
		d.say(text.Error, "gateway", oneLine(err), "")
		return
	}
	defer func() { _ = client.Close() }()
	topology, err := ask(ctx, client.Topology)
	switch code := transport.Code(err); {
	case code == codes.Unauthenticated || code == codes.PermissionDenied:
		d.say(text.OK, "gateway", fmt.Sprintf("%s answers, %s", address, address.Transport()), "")
		d.say(text.Error, "authentication", fmt.Sprintf("%s: %s", d.cfg.AuthStrategy(), oneLine(err)), d.authAdvice())
		return
	case err != nil:
		advice := "check host, port and TLS, and that the broker runs"
		if found := rest.Found(ctx, connection(d.cfg)); found != "" {
			advice = "the REST API answers at " + found
		}
		d.say(text.Error, "gateway", oneLine(err), fmt.Sprintf("ZEEBE_ADDRESS is read as %s, %s: %s", address, address.Transport(), advice))
		return
	}
	d.say(text.OK, "gateway", fmt.Sprintf("%s, version %s, %s", address, orUnknown(topology.Version), address.Transport()), "")
	d.say(text.OK, "authentication", authText(d.cfg), "")
	if topology.Healthy() {
		d.say(text.OK, "partitions", fmt.Sprintf("%d, each with a healthy leader", topology.Partitions), "")
	} else {
		d.say(text.Error, "partitions", fmt.Sprintf("%d of %d have a healthy leader", topology.Led, topology.Partitions),
			"jobs of the others wait: docs/runbooks.md#what-to-look-at")
	}
	d.tenant(ctx, client)
	d.models(ctx, client)
}

func orUnknown(version string) string {
	if version == "" {
		return "unknown"
	}
	return version
}

func authText(cfg config.Config) string {
	switch cfg.AuthStrategy() {
	case config.AuthOIDC:
		return "OIDC: the gateway takes the token of client " + cfg.ZeebeClientID
	case config.AuthBasic:
		return "Basic: the gateway takes the password of user " + cfg.BasicUser
	case config.AuthNone:
	}
	return "none: the gateway asks for none"
}

func (d doctor) authAdvice() string {
	switch d.cfg.AuthStrategy() {
	case config.AuthOIDC:
		return "check client id, secret, token URL and audience (worker config shows them), and that the client is known to the cluster"
	case config.AuthBasic:
		return "check CAMUNDA_BASIC_AUTH_USERNAME and its password, and that the user is known to the cluster"
	case config.AuthNone:
	}
	return "the gateway asks for credentials: set those of Basic or OIDC (docs/configuration.md)"
}

// probeType is a job type that no job has.
const probeType = "analyze-retry:none"

// tenant polls for a job type that no job has, as the worker polls.
func (d doctor) tenant(ctx context.Context, client transport.Client) {
	_, err := ask(ctx, func(ctx context.Context) (any, error) {
		return nil, client.Activate(ctx, transport.Poll{
			JobType: probeType, Worker: d.cfg.WorkerName, Max: 1, Wait: -time.Millisecond, Lock: time.Second, Tenant: d.cfg.Tenant,
		}, func([]job.Job) {})
	})
	switch transport.Code(err) {
	case codes.OK:
		d.say(text.OK, "tenant", d.cfg.Tenant, "")
	case codes.PermissionDenied, codes.InvalidArgument:
		d.say(text.Error, "tenant", fmt.Sprintf("a poll for %s is refused: %s", d.cfg.Tenant, oneLine(err)),
			"assign it to the worker's credentials, or correct RETRY_TENANT; without multi-tenancy it is "+job.DefaultTenant)
		return
	default:
		d.say(text.Error, "tenant", fmt.Sprintf("a poll for %s fails: %s", d.cfg.Tenant, oneLine(err)), "docs/runbooks.md#retrygatewayunreachable")
		return
	}
	const table = "docs/operations.md has the permissions by command"
	if d.cfg.AuthStrategy() == config.AuthNone {
		d.say(text.OK, "permissions", "none are needed without authentication", "")
	} else {
		d.say(text.Unknown, "permissions", "polls are allowed; a cluster with authorizations shows a missing UPDATE_PROCESS_INSTANCE "+
			"only by jobs that do not come", table)
	}
}

// models compares the bundled models with what is deployed, where the protocol can read that.
func (d doctor) models(ctx context.Context, client transport.Client) {
	reader, can := client.(*rest.Client)
	if !can {
		d.say(text.Unknown, "models", "gRPC cannot read what is deployed", "use a REST address for this command, or look at Operate")
		return
	}
	var deployed []modellint.File
	for _, m := range bpmn.Models() {
		got, err := ask(ctx, func(ctx context.Context) (rest.Definition, error) {
			return reader.Definition(ctx, d.cfg.Tenant, m.ProcessID)
		})
		switch {
		case transport.Code(err) == codes.NotFound:
			d.say(text.Warning, "models", m.ProcessID+" is not deployed, or these credentials may not read it", "worker deploy, unless your own models call the tasks")
		case err != nil:
			d.say(text.Unknown, "models", m.ProcessID+": "+oneLine(err), "")
		case string(got.XML) != string(m.Content):
			d.say(text.Warning, "models", fmt.Sprintf("%s version %d is not the model of this release", m.ProcessID, got.Version),
				"compare it with bpmn/"+m.Name+", then worker deploy")
			deployed = append(deployed, modellint.File{Name: fmt.Sprintf("%s version %d", m.ProcessID, got.Version), Content: got.XML})
		default:
			d.say(text.OK, "models", fmt.Sprintf("%s version %d is that of this release", m.ProcessID, got.Version), "")
		}
	}
	d.lint(deployed)
}

// lint checks models that are deployed and are not those of this release.
func (d doctor) lint(deployed []modellint.File) {
	store, err := openPolicies(d.cfg.Policies)
	if err != nil {
		return // that is a fault of its own
	}
	for _, f := range LintModels(deployed, d.cfg.JobTypes, store.Current()) {
		if f.Severity != text.Information {
			d.say(text.Warning, "models", strings.Join(strings.Fields(fmt.Sprintf("%s, %s %s: %s", f.File, f.Check, f.Subject, f.What)), " "),
				"worker models lint of its file has what to do about it")
		}
	}
}

// store looks at the store, the key and the chain, as far as that is done in a moment; worker audit verify reads every record.
func (d doctor) store(ctx context.Context) {
	secret, err := audit.LoadSecret(d.cfg.AuditKey())
	switch {
	case errors.Is(err, fs.ErrNotExist) && d.cfg.AuditKeyFile == "" && d.cfg.SQLitePath() != "" && empty(d.cfg.SQLitePath()):
		d.say(text.Warning, "store", fmt.Sprintf("%s does not exist yet, nor does its key", d.cfg.DatabaseURL), "the first start of a worker makes both")
		return
	case err != nil:
		d.say(text.Error, "key", oneLine(err), "restore the key from its backup: without it the trail cannot be continued")
	default:
		d.say(text.OK, "key", fmt.Sprintf("%s, in %s", secret.Public().ID(), d.cfg.AuditKey()), "")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*checkTimeout)
	defer cancel()
	store, err := OpenHistory(ctx, d.cfg)
	if err != nil {
		d.say(text.Error, "store", oneLine(err), "docs/runbooks.md#retrystoredown")
		return
	}
	defer func() { _ = store.Close() }()
	d.say(text.OK, "store", d.cfg.DatabaseURL.String(), "")
	d.chain(ctx, store, secret)
	d.backlog(ctx, store)
}

func (d doctor) chain(ctx context.Context, store audit.Store, secret *audit.Secret) {
	heads, _, err := store.Heads(ctx)
	if err != nil {
		d.say(text.Error, "chain", oneLine(err), "docs/runbooks.md#what-to-look-at")
		return
	}
	var last time.Time
	var records int64
	for _, h := range heads {
		if secret != nil && h.Seq > 0 && !secret.Public().CheckHead(h) {
			d.say(text.Error, "chain", fmt.Sprintf("the head of chain %d is not signed with the key %s", h.Chain, secret.Public().ID()), "docs/runbooks.md#auditchainbroken")
			return
		}
		records += h.Seq
		if h.At.After(last) {
			last = h.At
		}
	}
	d.say(text.OK, "chain", fmt.Sprintf("%s, %s; worker audit verify reads every record", text.Count(len(heads), "chain"), text.Count(records, "record")), "")
	if behind := behindTrail(heads, d.now(), d.cfg.MaxClockSkew); records == 0 {
		d.say(text.Unknown, "last record", "there is none yet", "")
	} else if behind != nil {
		d.say(text.Error, "last record", behind.Error(), "docs/runbooks.md#what-to-look-at")
	} else {
		d.say(text.OK, "last record", fmt.Sprintf("%s, %s ago", last.UTC().Format(time.RFC3339), d.now().Sub(last).Round(time.Second)), "")
	}
}

func (d doctor) backlog(ctx context.Context, store audit.Store) {
	if d.cfg.EventsURL == "" {
		return
	}
	waiting, oldest, err := store.Backlog(ctx)
	switch {
	case err != nil:
		d.say(text.Unknown, "outbox", oneLine(err), "")
	case waiting > 0 && d.now().Sub(oldest) > oldBacklog:
		d.say(text.Warning, "outbox", fmt.Sprintf("%s waiting to be published, the oldest for %s", text.Count(waiting, "event"), d.now().Sub(oldest).Round(time.Second)),
			"docs/runbooks.md#retryoutboxgrowing")
	default:
		d.say(text.OK, "outbox", text.Count(waiting, "event")+" waiting to be published", "")
	}
}

// queue connects to the queue's hosts. Whether it takes events shows in the outbox.
func (d doctor) queue(ctx context.Context) {
	if d.cfg.EventsURL == "" {
		d.say(text.OK, "queue", "none is set: events stay in the store", "")
		return
	}
	hosts, err := queue.Hosts(string(d.cfg.EventsURL))
	if err != nil {
		d.say(text.Error, "queue", "RETRY_EVENTS_URL "+oneLine(err), "")
		return
	}
	var failed []string
	for _, host := range hosts {
		conn, err := ask(ctx, func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", host)
		})
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			failed = append(failed, oneLine(err))
		}
	}
	switch {
	case len(failed) == len(hosts):
		d.say(text.Error, "queue", strings.Join(failed, "; "), "events wait in the store meanwhile: docs/runbooks.md#retryoutboxgrowing")
	case len(failed) > 0:
		d.say(text.Warning, "queue", strings.Join(failed, "; "), "")
	default:
		d.say(text.OK, "queue", d.cfg.EventsURL.String()+" can be reached", "")
	}
}

// worker asks the worker that runs with this configuration. It knows the broker's clock, which shows only in jobs.
func (d doctor) worker(ctx context.Context) {
	if strings.HasSuffix(d.cfg.HTTP.Address, ":0") {
		d.say(text.Unknown, "worker", "RETRY_HTTP_ADDRESS lets it choose a port", "")
		return
	}
	_, err := ask(ctx, func(ctx context.Context) (any, error) {
		return nil, ops.Ask(ctx, ops.Options{
			Address: d.cfg.HTTP.Address, Token: string(d.cfg.HTTP.Token),
			CertificatePath: d.cfg.HTTP.TLSCertificatePath, KeyPath: d.cfg.HTTP.TLSKeyPath,
		})
	})
	switch {
	case err != nil && strings.HasPrefix(err.Error(), "no worker answers"):
		d.say(text.Warning, "worker", oneLine(err), "none runs with these settings on this host; start it with: worker run")
		d.say(text.Unknown, "clock", "the broker's clock shows only in jobs, to a worker that runs", "")
	case err != nil && strings.HasPrefix(err.Error(), "not ready"):
		d.say(text.Error, "worker", oneLine(err), "it continues by itself when that is mended: do not restart it")
	case err != nil:
		d.say(text.Error, "worker", oneLine(err), "check RETRY_HTTP_ADDRESS and its certificate: they are those of the worker")
	default:
		d.say(text.OK, "worker", "ready: store, gateway and polls are as they should be", "")
		d.say(text.OK, "clock", "host and broker agree well enough, as far as jobs have shown", "")
	}
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
