//go:build servers

package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"hospital.example/analyze-retry/internal/testing/check"
)

// answersFile makes the day of the dashboard's test a long one and is written with what Prometheus answered, for
// tools/dashboard to draw.
var answersFile = flag.String("dashboard-answers", "", "play for seven minutes and write the answers of Prometheus to this file")

// dashboard is what is asked of deploy/grafana/dashboard.json.
type dashboard struct {
	Templating struct {
		List []struct {
			Name  string
			Query json.RawMessage
		}
	}
	Panels []struct {
		ID                 int
		Type, Title        string
		TimeFrom, Interval string
		Targets            []target
	}
}

type target struct {
	RefID   string
	Expr    string
	Instant bool
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/grafana/dashboard.json")
	check.Must(t, err)
	check.Must(t, json.Unmarshal(text, &d))
	return d
}

// unknownAtFirst are metrics whose expressions have no number in the first minutes, and why. Those of the first kind have
// samples all the same.
var (
	unknownAtFirst = map[string]string{"retry_audit_intact": "NaN until the first check of the trail, 5 minutes after the start"}
	absentAtFirst  = map[string]string{
		"retry_audit_verified_timestamp_seconds": "0 until then, which the panel leaves out",
	}
)

func TestEveryDashboardExpressionHasAnAnswer(t *testing.T) {
	d := onAHospitalDay(t)
	d.others()
	d.plays(d.claims(0))
	if *answersFile != "" {
		d.goesOn(7 * time.Minute)
	}
	t.Run("panels", func(t *testing.T) { d.at(t).panelsHaveAnswers(readDashboard(t)) })
	t.Run("variables", func(t *testing.T) { d.at(t).variablesHaveValues(readDashboard(t)) })
	t.Run("rules", func(t *testing.T) { d.at(t).rulesAreHealthy() })
	t.Run("other dashboards", func(t *testing.T) { d.at(t).othersSeeTheWorker() })
	t.Run("native histograms", func(t *testing.T) {
		p := (&scene{T: t, broker: d.broker, since: d.since}).startPrometheus(d.worker, "--enable-feature=native-histograms")
		p.has("histogram_count(retry_analysis_duration_seconds)")
		p.has("histogram_count(backoff_duration_minutes)")
	})
}

// at is the same day, seen by a part of the test.
func (d *hospitalDay) at(t *testing.T) *hospitalDay {
	t.Helper()
	day := *d
	day.scene = &scene{T: t, broker: d.broker, since: d.since}
	day.prometheus = &promServer{t, d.prometheus.API}
	return &day
}

// answers is what is written for the picture.
type answers struct {
	From, To, Step float64
	Panels         map[int]map[string]answer
}

// panelsHaveAnswers asks what the panels ask, as Grafana would with this day as its time range.
func (d *hospitalDay) panelsHaveAnswers(board dashboard) {
	d.Helper()
	var all answers
	d.prometheus.until(func() (missing string) {
		all, missing = d.ask(board)
		return missing
	})
	if *answersFile == "" {
		return
	}
	text, err := json.Marshal(all)
	d.must(err)
	d.must(os.WriteFile(*answersFile, text, 0o600))
}

func (d *hospitalDay) ask(board dashboard) (all answers, missing string) {
	d.Helper()
	now := time.Now()
	step := max(time.Second, now.Sub(d.began).Truncate(time.Second)/200)
	fill := strings.NewReplacer("$__rate_interval", "15s", "$__range", fmt.Sprintf("%.0fs", now.Sub(d.began).Seconds()),
		"$namespace", namespace, "$policy", "tiss", "$job_type", analyzeRetry+"|"+recordOutcome+"|"+submissionBackoff, "$job", "analyze-retry")
	all = answers{seconds(d.began), seconds(now), step.Seconds(), map[int]map[string]answer{}}
	for _, panel := range board.Panels {
		from, step := d.began, step
		if panel.TimeFrom != "" {
			from = now.Add(-d.duration(panel.TimeFrom))
		}
		if panel.Interval != "" {
			step = d.duration(panel.Interval)
		}
		if panel.Type == "heatmap" {
			step = 15 * time.Second // as $__rate_interval, so that nothing is counted twice
		}
		all.Panels[panel.ID] = map[string]answer{}
		for _, q := range panel.Targets {
			expr := fill.Replace(q.Expr)
			var a answer
			var err error
			if q.Instant {
				a.Result, _, _, err = d.prometheus.Query(d.Context(), expr, now)
			} else {
				a.Result, _, _, err = d.prometheus.QueryRange(d.Context(), expr, v1.Range{Start: from, End: now, Step: step})
			}
			all.Panels[panel.ID][q.RefID] = a
			samples, numbers := a.numbers()
			answered := numbers > 0 || samples > 0 && names(unknownAtFirst, expr) || names(absentAtFirst, expr)
			if err != nil || !answered {
				missing += fmt.Sprintf("%s (%s): %d samples, none of them a number %v\n  %s\n", panel.Title, q.RefID, samples, err, expr)
			}
		}
	}
	return all, missing
}

func seconds(t time.Time) float64 { return math.Round(float64(t.UnixMilli())) / 1000 }

// names reports whether an expression names one of the metrics.
func names(metrics map[string]string, expr string) bool {
	for metric := range metrics {
		if strings.Contains(expr, metric) {
			return true
		}
	}
	return false
}

func (d *hospitalDay) duration(text string) time.Duration {
	d.Helper()
	parsed, err := model.ParseDuration(text)
	d.must(err)
	return time.Duration(parsed)
}

var labelValues = regexp.MustCompile(`label_values\((.*), (\w+)\)`)

// variablesHaveValues asks for what can be chosen above the panels.
func (d *hospitalDay) variablesHaveValues(board dashboard) {
	d.Helper()
	fill := strings.NewReplacer("$namespace", ".*", "$job", ".+")
	asked := 0
	for _, v := range board.Templating.List {
		var query struct{ Query string }
		if json.Unmarshal(v.Query, &query) != nil {
			continue // the choice of a data source
		}
		asked++
		parts := labelValues.FindStringSubmatch(query.Query)
		if parts == nil {
			d.Errorf("the variable %s asks %s", v.Name, query.Query)
			continue
		}
		values, _, _, err := d.prometheus.LabelValues(d.Context(), parts[2], []string{fill.Replace(parts[1])}, time.Time{}, time.Time{})
		if len(values) == 0 {
			d.Errorf("the variable %s has no values: %s %v", v.Name, query.Query, err)
		}
	}
	if asked != 4 {
		d.Errorf("%d variables ask Prometheus, want 4", asked)
	}
}

// rulesAreHealthy waits until every rule of the deployment has been evaluated over these series, without an error.
func (d *hospitalDay) rulesAreHealthy() {
	d.Helper()
	files, err := filepath.Glob("../../deploy/prometheus/*.rules.yml")
	d.must(err)
	d.prometheus.until(func() (missing string) {
		loaded, err := d.prometheus.Rules(d.Context(), nil)
		if err != nil {
			return err.Error()
		}
		from := map[string]bool{}
		for _, g := range loaded.Groups {
			from[g.File] = true
			for _, rule := range g.Rules {
				var name, lastError string
				var health v1.RuleHealth
				switch r := rule.(type) {
				case v1.AlertingRule:
					name, lastError, health = r.Name, r.LastError, r.Health
				case v1.RecordingRule:
					name, lastError, health = r.Name, r.LastError, r.Health
				}
				if health != v1.RuleHealthGood {
					missing += fmt.Sprintf("%s: %s is %s %s\n", g.File, name, health, lastError)
				}
			}
		}
		if len(files) == 0 || len(from) != len(files) {
			missing += fmt.Sprintf("rules of %d files are loaded, there are %d", len(from), len(files))
		}
		return missing
	})
}

// othersSeeTheWorker asks what panels ask that people have: Zeebe's own, and those for the Camunda starter.
func (d *hospitalDay) othersSeeTheWorker() {
	d.Helper()
	const ours = `{namespace=~"` + namespace + `"}`
	for _, q := range []struct {
		by   []string
		expr string
	}{
		{[]string{"jobType"}, "zeebe_client_worker_job_activated_total" + ours},
		{[]string{"namespace", "workerName", "jobType"}, "zeebe_client_worker_job_activated_total" + ours},
		{[]string{"namespace", "workerName", "jobType"}, "zeebe_client_worker_job_handled_total" + ours},
		{[]string{"namespace", "action", "type"}, "camunda_job_invocations_total" + ours},
	} {
		expr := "sum by (" + strings.Join(q.by, ", ") + ") (" + q.expr + ")"
		d.prometheus.has(expr)
		all, err := d.prometheus.now(expr)
		d.must(err)
		for _, s := range all {
			for _, label := range q.by {
				if s.Metric[model.LabelName(label)] == "" {
					d.Errorf("%s has no %s: %v", expr, label, s.Metric)
				}
			}
		}
	}
	// As Zeebe's documentation computes the active jobs of a worker; 0 is as good as any number.
	active := `sum by (jobType) (zeebe_client_worker_job_activated_total - zeebe_client_worker_job_handled_total)`
	if all, err := d.prometheus.now(active); len(all) != 3 {
		d.Errorf("%s has %d answers, want one for each of 3 job types: %v", active, len(all), err)
	}
}
