package e2e

import (
	"context"
	"encoding/json"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/devbroker/process"
	"hospital.example/analyze-retry/test/suite"
)

// namespace is the label that worker and broker are scraped with. Zeebe's own dashboard shows a worker only where it has
// the broker's.
const namespace = "hospital"

// promServer is a real Prometheus of a test.
type promServer struct {
	*testing.T
	address string
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
	config := strings.NewReplacer("NAMESPACE", namespace, "WORKER", w.http, "BROKER", strings.TrimPrefix(s.broker.MonitoringURL(), "http://"), "RULES", rules).Replace(`
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
	p := &promServer{T: s.T, address: freeAddress(s.T)}
	cmd := exec.CommandContext(context.Background(), program, append(flags, "--config.file="+file, "--web.listen-address="+p.address,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--log.level=warn")...)
	cmd.Stdout, cmd.Stderr = log, log
	running, err := process.Start(cmd, false)
	s.must(err)
	s.Cleanup(func() {
		ctx, cancel := afterTest(s.T)
		defer cancel()
		if _, err := running.Stop(ctx, patience); err != nil {
			s.Error(err)
		}
	})
	ctx, cancel := s.within(patience)
	defer cancel()
	if err := running.Await(ctx, func(ctx context.Context) bool {
		status, _ := suite.Get(ctx, p.address, "/-/ready")
		return status == 200
	}); err != nil {
		text, _ := os.ReadFile(log.Name())
		s.Fatalf("prometheus is not ready: %v\n%s", err, text)
	}
	return p
}

// api asks the HTTP API and reads what it answers into data. It returns the API's own complaint, or "".
func (p *promServer) api(path string, parameters url.Values, data any) (complaint string) {
	p.Helper()
	status, text := suite.Get(p.Context(), p.address, "/api/v1/"+path+"?"+parameters.Encode())
	answer := struct {
		Status, Error string
		Data          json.RawMessage
	}{}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		p.Fatalf("prometheus answers %s with %d %s: %v", path, status, text, err)
	}
	if answer.Status != "success" {
		return answer.Error
	}
	if err := json.Unmarshal(answer.Data, data); err != nil {
		p.Fatalf("prometheus answers %s with %s: %v", path, answer.Data, err)
	}
	return ""
}

// answer is the result of a query, as the API gives it.
type answer struct {
	ResultType string   `json:"resultType"`
	Result     []series `json:"result"`
}

type series struct {
	Metric map[string]string `json:"metric"`
	Value  *sample           `json:"value,omitempty"`
	Values []sample          `json:"values,omitempty"`
}

// sample is a time and a value, which is text.
type sample [2]any

func (s sample) value() float64 {
	text, _ := s[1].(string)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// numbers counts the samples of an answer, and those of them that are not NaN.
func (a answer) numbers() (samples, numbers int) {
	for _, s := range a.Result {
		all := s.Values
		if s.Value != nil {
			all = append(all, *s.Value)
		}
		for _, v := range all {
			samples++
			if !math.IsNaN(v.value()) {
				numbers++
			}
		}
	}
	return samples, numbers
}

// instant asks for what is now.
func (p *promServer) instant(expr string, at time.Time) (a answer, complaint string) {
	p.Helper()
	complaint = p.api("query", url.Values{"query": {expr}, "time": {unix(at)}}, &a)
	return a, complaint
}

// over asks for a range of time.
func (p *promServer) over(expr string, from, to time.Time, step time.Duration) (a answer, complaint string) {
	p.Helper()
	complaint = p.api("query_range", url.Values{
		"query": {expr}, "start": {unix(from)}, "end": {unix(to)}, "step": {strconv.FormatFloat(step.Seconds(), 'f', 3, 64)},
	}, &a)
	return a, complaint
}

func unix(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }

// until waits until ready says that all is there; it may say what is missing meanwhile.
func (p *promServer) until(ready func() (missing string)) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	for {
		missing := ready()
		if missing == "" {
			return
		}
		if !pauseFor(ctx, 250*time.Millisecond) {
			p.Fatalf("within %v Prometheus has not come to it:\n%s", patience, missing)
		}
	}
}

// has waits until an expression has a number that is not 0.
func (p *promServer) has(expr string) {
	p.Helper()
	p.until(func() string {
		a, complaint := p.instant(expr, time.Now())
		for _, s := range a.Result {
			if v := s.Value.value(); v != 0 && !math.IsNaN(v) {
				return ""
			}
		}
		return "nothing for " + expr + " " + complaint
	})
}
