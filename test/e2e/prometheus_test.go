//go:build servers

package e2e

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"hospital.example/analyze-retry/internal/testing/process"
	"hospital.example/analyze-retry/test/suite"
)

// namespace is the label that worker and broker are scraped with. Zeebe's own dashboard shows a worker only where it has
// the broker's.
const namespace = "hospital"

// promServer is a real Prometheus of a test.
type promServer struct {
	*testing.T
	v1.API
}

// startPrometheus starts a Prometheus that scrapes the worker and the scene's broker every second, and knows the rules of
// the deployment. It has further flags if there are any.
func (s *scene) startPrometheus(w *worker, flags ...string) *promServer {
	s.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		s.Fatal("prometheus is missing (Debian: apt-get install --no-install-recommends prometheus)")
	}
	rules, err := filepath.Abs("../../deploy/prometheus")
	s.must(err)
	dir := s.TempDir()
	config := strings.NewReplacer("NAMESPACE", namespace, "WORKER", w.http(), "BROKER", strings.TrimPrefix(s.broker.MonitoringURL(), "http://"), "RULES", rules).Replace(`
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: ["RULES/*.rules.yml"]
scrape_configs:
  - job_name: analyze-retry
    static_configs: [{targets: ["WORKER"], labels: {namespace: NAMESPACE}}]
  - job_name: zeebe
    metrics_path: /actuator/prometheus
    static_configs: [{targets: ["BROKER"], labels: {namespace: NAMESPACE}}]
`)
	file := filepath.Join(dir, "prometheus.yml")
	s.must(os.WriteFile(file, []byte(config), 0o600))
	log, err := os.Create(filepath.Join(dir, "prometheus.log"))
	s.must(err)
	defer log.Close()
	address := freeAddress(s.T)
	// A connection that is kept would outlive the test.
	client, err := api.NewClient(api.Config{Address: "http://" + address, RoundTripper: &http.Transport{DisableKeepAlives: true}})
	s.must(err)
	cmd := exec.CommandContext(context.Background(), program, append(flags, "--config.file="+file, "--web.listen-address="+address,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--log.level=warn")...)
	cmd.Stdout, cmd.Stderr = log, log
	running, err := process.Start(cmd, false)
	s.must(err)
	s.Cleanup(func() {
		ctx, cancel := suite.AfterTest()
		defer cancel()
		if _, err := running.Stop(ctx, patience); err != nil {
			s.Error(err)
		}
	})
	ctx, cancel := s.within(patience)
	defer cancel()
	if err := running.Await(ctx, func(ctx context.Context) bool {
		status, _ := suite.Get(ctx, address, "/-/ready")
		return status == 200
	}); err != nil {
		text, _ := os.ReadFile(log.Name())
		s.Fatalf("prometheus is not ready: %v\n%s", err, text)
	}
	return &promServer{s.T, v1.NewAPI(client)}
}

// answer is the result of a query, as the API gives it.
type answer struct {
	Result model.Value `json:"result"`
}

// numbers counts the samples of an answer, and those of them that are not NaN.
func (a answer) numbers() (samples, numbers int) {
	count := func(v model.SampleValue) {
		if samples++; !math.IsNaN(float64(v)) {
			numbers++
		}
	}
	switch result := a.Result.(type) {
	case model.Vector:
		for _, s := range result {
			count(s.Value)
		}
	case model.Matrix:
		for _, s := range result {
			for _, v := range s.Values {
				count(v.Value)
			}
		}
	}
	return samples, numbers
}

// now asks for what is now.
func (p *promServer) now(expr string) (model.Vector, error) {
	p.Helper()
	value, _, _, err := p.Query(p.Context(), expr, time.Now())
	vector, _ := value.(model.Vector)
	return vector, err
}

// until waits until ready says that all is there; it may say what is missing meanwhile.
func (p *promServer) until(ready func() (missing string)) {
	p.Helper()
	var missing string
	(&scene{T: p.T}).until("Prometheus has it all", func() bool { missing = ready(); return missing == "" }, func() string { return missing })
}

// has waits until an expression has a number that is not 0.
func (p *promServer) has(expr string) {
	p.Helper()
	p.until(func() string {
		all, err := p.now(expr)
		for _, s := range all {
			if s.Value != 0 && !math.IsNaN(float64(s.Value)) {
				return ""
			}
		}
		return fmt.Sprint("nothing for ", expr, " ", err)
	})
}
