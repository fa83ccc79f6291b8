package devbroker

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"hospital.example/analyze-retry/internal/testing/process"
)

const (
	// startTimeout bounds a start; 5 s is usual, a loaded machine takes longer.
	startTimeout = 2 * time.Minute
	// startAttempts is how often free ports are chosen anew when another process was quicker to use them.
	startAttempts = 3
	// stopGrace is how long a broker may take to end by itself; 2 s is usual.
	stopGrace = 20 * time.Second
	// redialPause is the pause after a dial that failed, while the gateway starts.
	redialPause = 50 * time.Millisecond
)

//go:embed log4j2.xml
var log4j2 []byte

// Options say what broker to start. The zero value is a broker of [DefaultVersion] with free ports and a data
// directory that goes when it is stopped.
type Options struct {
	// Version is the broker's version; "" means [DefaultVersion]. The error for one that is not known lists those that are.
	Version string
	// Dir keeps the broker's data and logs over restarts. "" means a temporary directory, removed by [Broker.Stop].
	Dir string
	// GatewayPort, MonitoringPort and RESTPort fix the ports that people use; 0 picks free ones.
	GatewayPort, MonitoringPort, RESTPort int
	// Records makes the broker write down everything it does, for [Broker.Records]. It slows the broker.
	Records bool
	// Settings are more of the broker's own, NAME=value, for example ZEEBE_BROKER_BACKPRESSURE_ALGORITHM=fixed. A version that is
	// [InMemory] takes none.
	Settings []string
	// Credentials authorize the calls by which [Start] and [Broker.Restart] see that the gateway is ready; nil where its Settings
	// ask for none.
	Credentials credentials.PerRPCCredentials
	// Detach lets the broker live on when this process ends. Find it again with [Attach].
	Detach bool
	// IgnoreInstalledJava runs the broker on the Java that is fetched, as on a machine that has none.
	IgnoreInstalledJava bool
	// Progress gets a line about each step that takes long; nil is silent.
	Progress Progress
}

// State is one broker on this machine, running or not: what another process needs to find it again. It can be stored as JSON.
type State struct {
	Version   string `json:"version"`
	Dir       string `json:"dir"`
	Ports     Ports  `json:"ports"`
	Records   bool   `json:"records"`
	PID       int    `json:"pid"`
	Container string `json:"container,omitempty"` // "" where it runs in none
	// Settings are those of [EnvSettings] and Options. They stay over restarts.
	Settings []string `json:"settings,omitempty"`
	// InMemory is that of its version: what it holds goes when it ends.
	InMemory bool `json:"inMemory,omitempty"`
}

// Broker is a running broker.
type Broker struct {
	at      State
	engine  engine
	process *process.Process
	records recordLog
	detach  bool
	// credentials are those of Options.
	credentials credentials.PerRPCCredentials
	// ownsDir says that the directory is a temporary one that goes with the broker.
	ownsDir bool
}

// Start brings up a broker and returns when it is ready for work. The first start of a version fetches it. The
// caller has to call [Broker.Stop]. If the start fails, the broker's directory stays, for its log.
func Start(ctx context.Context, o Options) (*Broker, error) {
	r, err := findRelease(o.Version)
	if err != nil {
		return nil, err
	}
	chosen, err := chooseEngine(ctx, r, o)
	if err != nil {
		return nil, err
	}
	dir, err := makeDir(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("make the broker's directory: %w", err)
	}
	b := &Broker{
		at: State{
			Version: r.version, Dir: dir, Records: o.Records, Settings: slices.Concat(r.settings, o.Settings), InMemory: r.inMemory,
		},
		engine: chosen, detach: o.Detach, credentials: o.Credentials, ownsDir: o.Dir == "",
	}
	b.setRecords()
	for attempt := 1; ; attempt++ {
		if b.at.Ports, err = chosen.ports(o.GatewayPort, o.MonitoringPort, o.RESTPort); err != nil {
			return nil, err
		}
		o.Progress.say("starting Zeebe %s on %s ...", r.version, b.Address())
		logged := b.logSize()
		err := b.launch(ctx)
		if err == nil {
			return b, nil
		}
		if attempt == startAttempts || ctx.Err() != nil || !b.lostPort(logged) {
			return nil, err
		}
	}
}

// lostPort reports whether a start failed because another process took a port between our choice and the broker's use of it. What
// was logged before that start does not count.
func (b *Broker) lostPort(logged int64) bool {
	raw, err := os.ReadFile(b.LogPath())
	return err == nil && bytes.Contains(raw[min(logged, int64(len(raw))):], []byte("already in use"))
}

// logSize returns how much the broker has logged so far; nothing where it has no log yet.
func (b *Broker) logSize() int64 {
	info, err := os.Stat(b.LogPath())
	if err != nil {
		return 0
	}
	return info.Size()
}

func makeDir(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "zeebe-")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o755)
}

func (b *Broker) setRecords() {
	if b.at.Records {
		b.records.path = recordsPath(b.at)
	}
}

func recordsPath(i State) string { return filepath.Join(i.Dir, "records.jsonl") }

// launch starts the process on the instance's directory and ports and waits until it is ready.
func (b *Broker) launch(ctx context.Context) error {
	if err := b.prepareDir(); err != nil {
		return fmt.Errorf("prepare %s: %w", b.at.Dir, err)
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		// The default waits a second and more between two dials, which is most of what a start takes.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: redialPause, Multiplier: 1, MaxDelay: redialPause},
			MinConnectTimeout: time.Second,
		}),
	}
	if b.credentials != nil {
		options = append(options, grpc.WithPerRPCCredentials(b.credentials))
	}
	conn, err := grpc.NewClient(b.Address(), options...)
	if err != nil {
		return fmt.Errorf("connect to the gateway %s: %w", b.Address(), err)
	}
	defer conn.Close()
	b.at.Container = b.engine.container(b.at)
	b.removeContainer()
	bounded, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var missing error // what was missing last
	started, err := process.Serve(bounded, b.engine.command(b.at), b.LogPath(), b.detach, func(ctx context.Context) bool {
		if missing = healthyLeader(ctx, pb.NewGatewayClient(conn), b.at.Ports.Command); missing == nil {
			_, missing = b.Now(ctx)
		}
		return missing == nil
	})
	if err != nil {
		b.removeContainer()
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w\nit is not ready: %w", err, missing)
		}
		return fmt.Errorf("start the broker: %w", err)
	}
	b.process, b.at.PID = started, started.PID()
	if err := b.restoreClock(ctx); err != nil {
		return errors.Join(fmt.Errorf("move the clock to where it was: %w", err), b.Kill())
	}
	return nil
}

// healthyLeader returns what the topology still lacks, as an error. Only the broker with our command port counts: another
// broker may have taken the gateway's port before ours did.
func healthyLeader(ctx context.Context, gateway pb.GatewayClient, commandPort int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	topology, err := gateway.Topology(ctx, &pb.TopologyRequest{})
	if err != nil {
		return err
	}
	for _, broker := range topology.GetBrokers() {
		if int(broker.GetPort()) != commandPort {
			continue
		}
		for _, partition := range broker.GetPartitions() {
			if partition.GetRole() == pb.Partition_LEADER && partition.GetHealth() == pb.Partition_HEALTHY {
				return nil
			}
		}
	}
	return fmt.Errorf("the topology shows no healthy leader yet: %v", topology.GetBrokers())
}

func (b *Broker) prepareDir() error {
	// A killed broker leaves 14 MB of unpacked libraries in its temporary directory each time.
	if err := os.RemoveAll(filepath.Join(b.at.Dir, "tmp")); err != nil {
		return err
	}
	for _, name := range []string{"data", "tmp"} {
		if err := os.MkdirAll(filepath.Join(b.at.Dir, name), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(b.at.Dir, "log4j2.xml"), log4j2, 0o644); err != nil {
		return err
	}
	if !b.at.Records {
		return nil
	}
	return endHalfLine(b.records.path)
}

// Address returns the gateway's host:port.
func (b *Broker) Address() string { return loopback(b.at.Ports.Gateway) }

// RESTURL returns where the gateway's REST API is, without the path /v2. An [InMemory] version serves only the call of
// [Broker.CompleteUserTask] there.
func (b *Broker) RESTURL() string { return "http://" + loopback(b.at.Ports.REST) }

// MonitoringURL returns where the broker's metrics, health and clock are, without a slash at the end.
func (b *Broker) MonitoringURL() string { return "http://" + loopback(b.at.Ports.Monitoring) }

// LogPath returns the file with what the broker logs.
func (b *Broker) LogPath() string { return filepath.Join(b.at.Dir, "broker.log") }

// Alive reports whether the broker's process runs.
func (b *Broker) Alive() bool { return b.process.Alive() }

// Kill ends the broker at once (kill -9), with no chance to tidy up. Its directory stays for [Broker.Restart].
func (b *Broker) Kill() error {
	b.removeContainer()
	return b.process.Kill()
}

// Restart starts the broker again on the same data and the same ports, with its clock where it was. A broker that
// still runs is asked to end first.
func (b *Broker) Restart(ctx context.Context) error {
	if b.engine == nil {
		return errors.New("a broker that another process started cannot be restarted from here: stop it and start one on its directory")
	}
	if b.at.InMemory {
		return fmt.Errorf("the engine of %s cannot be restarted: it keeps nothing", b.at.Version)
	}
	if err := b.end(ctx); err != nil {
		return err
	}
	return b.launch(ctx)
}

// Stop ends the broker (SIGTERM, and SIGKILL when it takes too long) and removes its directory if that is a temporary
// one. Stopping twice is fine.
func (b *Broker) Stop(ctx context.Context) error {
	if err := b.end(ctx); err != nil {
		return err
	}
	if !b.ownsDir {
		return nil
	}
	if err := os.RemoveAll(b.at.Dir); err != nil {
		return fmt.Errorf("remove the broker's directory: %w", err)
	}
	return nil
}

func (b *Broker) end(ctx context.Context) error {
	byItself, err := b.process.Stop(ctx, stopGrace)
	if !byItself {
		b.removeContainer()
	}
	return err
}

// State describes the running broker for [Attach].
func (b *Broker) State() State { return b.at }

// Attach refers to a broker that another process started with [Options].Detach. It may have ended meanwhile, see
// [Broker.Alive]. Its directory is left alone by [Broker.Stop].
func Attach(s State) *Broker {
	b := &Broker{at: s, process: process.Attach(s.PID, s.Dir)}
	b.setRecords()
	return b
}
