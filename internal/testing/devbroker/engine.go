package devbroker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// engine is a way to run a broker on this machine.
type engine interface {
	// ports chooses the ports of an instance; those that people use may be fixed, 0 leaves the choice.
	ports(gateway, monitoring, rest int) (Ports, error)
	// command returns the program to start for an instance; its output is the broker's log.
	command(i State) *exec.Cmd
	// container names the container that the instance runs in, "" where it runs in none.
	container(i State) string
}

// chooseEngine finds a way to run a broker and fetches what it needs: the distribution on a Java of this machine, or
// else a container. There is no image of a distribution that the environment names, and none of an engine in memory.
func chooseEngine(ctx context.Context, r release, o Options) (engine, error) {
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	if r.inMemory {
		return prepareMemory(ctx, r, cache, o)
	}
	native, nativeErr := prepareNative(ctx, r, cache, o)
	if nativeErr == nil {
		return native, nil
	}
	if !errors.Is(nativeErr, errUnavailable) || ctx.Err() != nil {
		return nil, nativeErr
	}
	if r.distribution != "" {
		return nil, fmt.Errorf("no way to run Zeebe %s: %s", r.version, because(nativeErr))
	}
	container, dockerErr := prepareDocker(ctx, r, o.Progress)
	if dockerErr == nil {
		return container, nil
	}
	return nil, fmt.Errorf("no way to run a Zeebe broker (%s; %s): install Maven (mvn) and a JDK %d+, or start a Docker engine",
		because(nativeErr), because(dockerErr), minJava)
}

// because is the reason in an error that wraps errUnavailable.
func because(err error) string {
	return strings.TrimPrefix(err.Error(), errUnavailable.Error()+": ")
}

// nativeEngine runs the unpacked distribution on a Java of this machine.
type nativeEngine struct {
	java, dir, mainClass string
}

func prepareNative(ctx context.Context, r release, cache string, o Options) (engine, error) {
	// Both halves are looked for before either is fetched: one download is worth nothing while the other half is missing.
	if err := canHaveDistribution(r, cache); err != nil {
		return nil, err
	}
	path, err := java(ctx, cache, o.IgnoreInstalledJava, o.Progress)
	if err != nil {
		return nil, err
	}
	dir, err := distribution(ctx, r, cache, o.Progress)
	if err != nil {
		return nil, err
	}
	return nativeEngine{java: path, dir: dir, mainClass: r.mainClass}, nil
}

// command starts java itself and not the distribution's script, so that the process we hold is the broker.
func (e nativeEngine) command(i State) *exec.Cmd {
	args := append(strings.Fields(javaOptions),
		"-Djava.io.tmpdir="+filepath.Join(i.Dir, "tmp"),
		"-Ddevbroker.dir="+i.Dir,
		"-Dapp.name=broker", "-Dapp.home="+e.dir, "-Dbasedir="+e.dir,
		"-classpath", filepath.Join(e.dir, "config")+":"+filepath.Join(e.dir, "lib", "*"),
		e.mainClass)
	cmd := exec.Command(e.java, args...)
	// Spring reads ./config/application.yaml, so the broker must not start in the caller's directory.
	cmd.Dir = i.Dir
	cmd.Env = append(inherited(), settings(i, i.Dir, "127.0.0.1")...)
	return cmd
}

func (nativeEngine) ports(gateway, monitoring, rest int) (Ports, error) {
	return pickPorts(gateway, monitoring, rest)
}

func (nativeEngine) container(State) string { return "" }

// javaOptions favour a quick start and a small process over peak speed.
const javaOptions = "-Xms128m -Xmx512m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData" +
	" -XX:+ExitOnOutOfMemoryError -Xshare:auto -Dfile.encoding=UTF-8"

// settings is the broker's configuration as environment variables. home is the instance's directory and host the
// address to bind to, both as the broker sees them.
func settings(i State, home, host string) []string {
	p := i.Ports
	set := []string{
		"DEVBROKER_HOME=" + home,
		"LOGGING_CONFIG=" + home + "/log4j2.xml",
		"ZEEBE_BROKER_DATA_DIRECTORY=" + home + "/data",
		"ZEEBE_BROKER_NETWORK_HOST=" + host,
		"ZEEBE_BROKER_NETWORK_COMMANDAPI_PORT=" + strconv.Itoa(p.Command),
		"ZEEBE_BROKER_NETWORK_INTERNALAPI_PORT=" + strconv.Itoa(p.Internal),
		"ZEEBE_BROKER_GATEWAY_NETWORK_HOST=" + host,
		"ZEEBE_BROKER_GATEWAY_NETWORK_PORT=" + strconv.Itoa(p.Gateway),
		"SERVER_ADDRESS=" + host,
		"SERVER_PORT=" + strconv.Itoa(p.REST),
		"MANAGEMENT_SERVER_ADDRESS=" + host,
		"MANAGEMENT_SERVER_PORT=" + strconv.Itoa(p.Monitoring),
		"MANAGEMENT_ENDPOINTS_WEB_EXPOSURE_INCLUDE=*",
		"ZEEBE_CLOCK_CONTROLLED=true",
		// A developer's disk is often nearly full; by default the broker would refuse all work there.
		"ZEEBE_BROKER_DATA_DISK_FREESPACE_PROCESSING=100MB",
		"ZEEBE_BROKER_DATA_DISK_FREESPACE_REPLICATION=50MB",
		"ZEEBE_BROKER_DATA_LOGSEGMENTSIZE=32MB",
		"ZEEBE_BROKER_EXPERIMENTAL_ROCKSDB_MEMORYLIMIT=128MB",
		"ZEEBE_BROKER_THREADS_CPUTHREADCOUNT=2",
		"ZEEBE_BROKER_THREADS_IOTHREADCOUNT=2",
	}
	if i.Records {
		set = append(set,
			"ZEEBE_BROKER_EXPORTERS_DEBUG_CLASSNAME=io.camunda.zeebe.broker.exporter.debug.DebugLogExporter",
			"ZEEBE_BROKER_EXPORTERS_DEBUG_ARGS_LOGLEVEL=info")
	}
	return append(set, i.Settings...)
}

// inherited is the part of our environment that a broker may see. The rest stays outside: a ZEEBE_* or SPRING_*
// variable of the developer's shell would change the broker under test.
func inherited() []string {
	var kept []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		switch {
		case name == "PATH", name == "HOME", name == "USER", name == "TMPDIR", name == "LANG", strings.HasPrefix(name, "DOCKER_"):
			kept = append(kept, pair)
		}
	}
	return kept
}
