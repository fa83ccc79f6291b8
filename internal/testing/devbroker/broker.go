package devbroker

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/testing/devbroker/process"
)

const (
	// startTimeout bounds a start; 5 s is usual, a loaded machine takes longer.
	startTimeout = 2 * time.Minute
	// startAttempts is how often free ports are chosen anew when another process was quicker to use them.
	startAttempts = 3
	// stopGrace is how long a broker may take to end by itself; 2 s is usual.
	stopGrace = 20 * time.Second
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
	// GatewayPort and MonitoringPort fix the two ports that people use; 0 picks free ones.
	GatewayPort, MonitoringPort int
	// Records makes the broker write down everything it does, for [Broker.Records]. It slows the broker.
	Records bool
	// Settings are more of the broker's own, NAME=value, for example ZEEBE_BROKER_BACKPRESSURE_ALGORITHM=fixed.
	Settings []string
	// Detach lets the broker live on when this process ends. Find it again with [Attach].
	Detach bool
	// IgnoreInstalledJava runs the broker on the Java that is fetched, as on a machine that has none.
	IgnoreInstalledJava bool
	// Progress is told what takes long; nil is silent.
	Progress Progress
}

// instance is one broker on this machine, running or not.
type instance struct {
	Version string
	Dir     string
	Ports   Ports
	Records bool
	// Settings are those of Options. They stay over restarts.
	Settings []string
}

// Broker is a running broker.
type Broker struct {
	at      instance
	engine  engine
	process *process.Process
	records recordLog
	detach  bool
	// ownsDir says that the directory is a temporary one that goes with the broker.
	ownsDir bool
	// containerName is set where the broker runs in a container.
	containerName string
}

// Start brings up a broker and returns when it is ready for work. The first start of a version fetches it, see
// [Fetch]. Whoever starts a broker has to call [Broker.Stop]. Where the start fails, the broker's directory stays, for
// its log.
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
	b := &Broker{at: instance{Version: r.version, Dir: dir, Records: o.Records, Settings: o.Settings}, engine: chosen, detach: o.Detach, ownsDir: o.Dir == ""}
	b.setRecords()
	for attempt := 1; ; attempt++ {
		if b.at.Ports, err = chosen.ports(o.GatewayPort, o.MonitoringPort); err != nil {
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

// lostPort reports whether a start failed because somebody took a port between our choice and the broker's use of it. What
// was logged before that start does not count.
func (b *Broker) lostPort(logged int64) bool {
	raw, err := os.ReadFile(b.LogPath())
	return err == nil && bytes.Contains(raw[min(logged, int64(len(raw))):], []byte("already in use"))
}

// logSize is how much the broker has logged so far; nothing where it has no log yet.
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
		b.records.path = filepath.Join(b.at.Dir, "records.jsonl")
	}
}

// launch starts the process on the instance's directory and ports and waits until it is ready.
func (b *Broker) launch(ctx context.Context) error {
	if err := b.prepareDir(); err != nil {
		return fmt.Errorf("prepare %s: %w", b.at.Dir, err)
	}
	log, err := os.OpenFile(b.LogPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the broker's log: %w", err)
	}
	defer log.Close()
	if b.containerName = b.engine.container(b.at); b.containerName != "" {
		removeContainer(b.containerName)
	}
	cmd := b.engine.command(b.at)
	cmd.Stdout, cmd.Stderr = log, log
	if b.process, err = process.Start(cmd, b.detach); err != nil {
		return fmt.Errorf("start the broker: %w", err)
	}
	if err := b.becomeReady(ctx); err != nil {
		return errors.Join(err, b.Kill())
	}
	return nil
}

// becomeReady waits for the broker, unless its process ends first.
func (b *Broker) becomeReady(caller context.Context) error {
	ctx, cancel := context.WithTimeout(caller, startTimeout)
	defer cancel()
	go func() {
		// A broker that has died will not become ready: waiting ends with it.
		if b.process.Wait(ctx) == nil {
			cancel()
		}
	}()
	err := b.awaitReady(ctx)
	if err == nil {
		err = b.restoreClock(ctx)
	}
	if errors.Is(caller.Err(), context.Canceled) {
		return fmt.Errorf("start the broker: %w", caller.Err())
	}
	if !b.process.Alive() {
		return fmt.Errorf("the broker ended before it was ready (%w), %s", b.process.Err(), b.lastWords())
	}
	if err != nil {
		return fmt.Errorf("the broker is not ready: %w, %s", err, b.lastWords())
	}
	return nil
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

// lastWords is the end of the broker's log, for an error.
func (b *Broker) lastWords() string {
	const lines = 15
	all := strings.Split(strings.TrimSpace(b.logTail()), "\n")
	return fmt.Sprintf("its log %s ends with:\n%s", b.LogPath(), strings.Join(all[max(0, len(all)-lines):], "\n"))
}

// logTail is what the broker has logged last, or why that cannot be read.
func (b *Broker) logTail() string {
	const size = 64 << 10
	raw, err := os.ReadFile(b.LogPath())
	if err != nil {
		return err.Error()
	}
	return string(raw[max(0, len(raw)-size):])
}

// Address is the gateway's host:port.
func (b *Broker) Address() string { return loopback(b.at.Ports.Gateway) }

// MonitoringURL is where the broker's metrics, health and clock are, without a slash at the end.
func (b *Broker) MonitoringURL() string { return "http://" + loopback(b.at.Ports.Monitoring) }

// LogPath is the file with what the broker logs.
func (b *Broker) LogPath() string { return filepath.Join(b.at.Dir, "broker.log") }

// Alive reports whether the broker's process runs.
func (b *Broker) Alive() bool { return b.process.Alive() }

// Kill ends the broker at once (kill -9), with no chance to tidy up. Its directory stays for [Broker.Restart].
func (b *Broker) Kill() error {
	if b.containerName != "" {
		removeContainer(b.containerName)
	}
	return b.process.Kill()
}

// Restart starts the broker again on the same data and the same ports, with its clock where it was. A broker that
// still runs is asked to end first.
func (b *Broker) Restart(ctx context.Context) error {
	if b.engine == nil {
		return errors.New("a broker that another process started cannot be restarted from here: stop it and start one on its directory")
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
	if !byItself && b.containerName != "" {
		removeContainer(b.containerName)
	}
	return err
}
