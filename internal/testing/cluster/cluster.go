// Package cluster is a Camunda 8 cluster as tests and the demo use it from outside: the engine of this project, or a
// cluster of the user's own whose clock can be moved.
package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"hospital.example/analyze-retry/internal/testing/engine/gateway"
)

// EnvAddress names the gateway of a cluster of the user's own for [FromEnv], host:port. It is a worker's own setting, so that
// one line names it for both.
const EnvAddress = "ZEEBE_ADDRESS"

// Cluster is a running cluster, with a connection to its gateway, which tests use as the hospital's other workers and its
// operators would. It is safe for concurrent use, but for Kill, Restart and Stop.
type Cluster struct {
	pb.GatewayClient
	conn    *grpc.ClientConn
	at      gateway.Addresses
	records recordLog
	server  *gateway.Server // nil where another process runs it
}

// Start starts the engine in this process, on free ports. The caller has to call [Cluster.Stop].
func Start() (c *Cluster, err error) {
	c = &Cluster{}
	if c.server, err = gateway.Start(c.records.take); err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	c.at = c.server.At
	return c, c.dial()
}

// dial makes the connection, over which a call waits while the gateway is away.
func (c *Cluster) dial() (err error) {
	c.conn, err = grpc.NewClient(c.at.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	c.GatewayClient = pb.NewGatewayClient(c.conn)
	return err
}

// FromEnv returns the cluster that the environment names, as docs/engine.md has it, nil where it names none.
func FromEnv() (*Cluster, error) {
	if os.Getenv(EnvAddress) == "" {
		return nil, nil
	}
	var values []string
	for _, name := range []string{EnvAddress, "ZEEBE_REST_ADDRESS", "ZEEBE_TEST_MONITORING", "ZEEBE_TEST_RECORDS"} {
		value := strings.TrimSuffix(strings.TrimPrefix(os.Getenv(name), "http://"), "/")
		if value == "" {
			return nil, fmt.Errorf("%s names a cluster: set %s too (docs/engine.md)", EnvAddress, name)
		}
		values = append(values, value)
	}
	c := &Cluster{at: gateway.Addresses{GRPC: values[0], REST: values[1], Monitoring: values[2]}, records: recordLog{path: values[3]}}
	return c, c.dial()
}

// Deploy deploys these files, models and forms, all or none.
func (c *Cluster) Deploy(ctx context.Context, files ...string) error {
	request := &pb.DeployResourceRequest{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		request.Resources = append(request.Resources, &pb.Resource{Name: filepath.Base(file), Content: content})
	}
	_, err := c.DeployResource(ctx, request)
	return err
}

// Address returns the gateway's host:port.
func (c *Cluster) Address() string { return c.at.GRPC }

// RESTURL returns where the REST API is, without the path /v2.
func (c *Cluster) RESTURL() string { return "http://" + c.at.REST }

// MonitoringURL returns where the metrics and the clock are, without a slash at the end.
func (c *Cluster) MonitoringURL() string { return "http://" + c.at.Monitoring }

// SetPace slows a cluster that [Start] started, see [gateway.Gateway.SetPace].
func (c *Cluster) SetPace(pause time.Duration) { c.server.SetPace(pause) }

// Kill cuts all connections of a cluster that [Start] started. [Cluster.Restart] brings it back.
func (c *Cluster) Kill() { c.server.Close() }

// Restart starts a cluster that was killed, on the same addresses, with all as it was.
func (c *Cluster) Restart() error { return c.server.Restart() }

// Stop closes the connection, and ends a cluster that [Start] started.
func (c *Cluster) Stop() error {
	if c.server != nil {
		defer c.server.Close()
	}
	return c.conn.Close()
}

// Now returns the time on the cluster's clock.
func (c *Cluster) Now(ctx context.Context) (time.Time, error) {
	text, err := c.call(ctx, http.MethodGet, c.MonitoringURL()+"/actuator/clock", nil, http.StatusOK)
	if err != nil {
		return time.Time{}, err
	}
	var clock struct{ EpochMilli int64 }
	if err := json.Unmarshal(text, &clock); err != nil {
		return time.Time{}, fmt.Errorf("read the cluster's clock: %w", err)
	}
	return time.UnixMilli(clock.EpochMilli).UTC(), nil
}

// Advance moves the clock by d (whole milliseconds). Timers that fall due fire at once.
func (c *Cluster) Advance(ctx context.Context, d time.Duration) error {
	body := fmt.Appendf(nil, `{"offsetMilli":%d}`, d.Milliseconds())
	_, err := c.call(ctx, http.MethodPost, c.MonitoringURL()+"/actuator/clock/add", body, http.StatusOK)
	return err
}

// CompleteUserTask completes a Camunda user task over the REST API, as a task list does; variables nil is none.
func (c *Cluster) CompleteUserTask(ctx context.Context, key int64, variables map[string]any) error {
	if variables == nil {
		variables = map[string]any{}
	}
	body, err := json.Marshal(map[string]any{"variables": variables})
	if err != nil {
		return fmt.Errorf("complete user task %d: %w", key, err)
	}
	for _, version := range []string{"v2", "v1"} { // 8.5 knows the older one only
		url := fmt.Sprintf("%s/%s/user-tasks/%d/completion", c.RESTURL(), version, key)
		if _, err = c.call(ctx, http.MethodPost, url, body, http.StatusNoContent); err == nil {
			return nil
		}
	}
	return fmt.Errorf("complete user task %d: %w", key, err)
}

// callTimeout bounds one request.
const callTimeout = 15 * time.Second

// call sends one request and returns the body of an answer with the status that is wanted.
func (c *Cluster) call(ctx context.Context, method, url string, body []byte, want int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Close = true // a connection that is kept would outlive the test
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("call the cluster: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the cluster's answer: %w", err)
	}
	if response.StatusCode != want {
		return nil, fmt.Errorf("%s %s: the cluster answered %s: %s", method, request.URL.Path, response.Status, answer)
	}
	return answer, nil
}
