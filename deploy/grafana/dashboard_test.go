package grafana_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql/parser"

	"hospital.example/analyze-retry/deploy/grafana"
)

var update = flag.Bool("update", false, "write dashboard.json anew")

// board is what is looked at of dashboard.json, as Grafana reads it.
type board struct {
	UID           string
	SchemaVersion int
	Templating    struct {
		List []struct {
			Name, Type string
			Multi      bool
			Query      any
		}
	}
	Panels []panel
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               struct{ Type, UID string }
	FieldConfig              struct {
		Defaults struct {
			Unit       string
			NoValue    string
			Thresholds struct {
				Steps []struct {
					Value *float64
					Color string
				}
			}
		}
	}
	Targets []struct {
		RefID, Expr, LegendFormat string
		Instant, Range            bool
		Datasource                struct{ Type, UID string }
	}
}

func read(t *testing.T) (b board) {
	t.Helper()
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// drawn are the panels that show something.
func (b board) drawn() []panel {
	return slices.DeleteFunc(slices.Clone(b.Panels), func(p panel) bool { return p.Type == "row" })
}

func TestTheFileIsWhatTheGeneratorMakes(t *testing.T) {
	want, err := grafana.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("dashboard.json", want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("dashboard.json is stale (-want +got); run make generate:\n%s", diff)
	}
}

func TestTheDashboardIsFoundAgainAndAsksForItsPrometheus(t *testing.T) {
	b := read(t)
	if b.UID != "analyze-retry" || b.SchemaVersion < 38 {
		t.Errorf("uid %q, schema version %d, want analyze-retry and 38 or later", b.UID, b.SchemaVersion)
	}
	kinds := map[string]string{}
	for _, v := range b.Templating.List {
		kinds[v.Name] = v.Type
		if v.Type == "query" && !v.Multi {
			t.Errorf("of the variable %s only one value can be chosen", v.Name)
		}
	}
	want := map[string]string{"DS_PROMETHEUS": "datasource", "namespace": "query", "job": "query", "job_type": "query"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}

func TestEveryPanelSaysWhatItShowsInWhichUnitAndWhatIsWrong(t *testing.T) {
	ids, titles := map[int]bool{}, map[string]bool{}
	for _, p := range read(t).Panels {
		if p.ID == 0 || ids[p.ID] {
			t.Errorf("%s: the id %d is none, or another panel's", p.Title, p.ID)
		}
		ids[p.ID] = true
		if p.Type == "row" {
			continue
		}
		if p.Title == "" || len(p.Description) < 20 || !strings.HasSuffix(p.Description, ".") {
			t.Errorf("%d %q: describe it: %q", p.ID, p.Title, p.Description)
		}
		if key := p.Type + p.Title; titles[key] {
			t.Errorf("two panels are called %q", p.Title)
		} else {
			titles[key] = true
		}
		d := p.FieldConfig.Defaults
		if d.Unit == "" || d.NoValue == "" {
			t.Errorf("%s: unit %q, text without a value %q", p.Title, d.Unit, d.NoValue)
		}
		// A heat map has a colour scale instead.
		if p.Type != "heatmap" && len(d.Thresholds.Steps) == 0 {
			t.Errorf("%s has no thresholds", p.Title)
		}
		// A lamp or a number of the day tells good from bad.
		if p.Type == "stat" && len(d.Thresholds.Steps) < 2 {
			t.Errorf("%s never changes its colour", p.Title)
		}
	}
}

func TestNoPanelCoversAnother(t *testing.T) {
	taken := map[[2]int]string{}
	for _, p := range read(t).Panels {
		g := p.GridPos
		if g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("%s stands at %+v; there are 24 columns", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%s covers %s at column %d, line %d", p.Title, other, x, y)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

// outside are the metrics that other programs have: the broker, Prometheus itself, and what every Go process shows.
var outside = map[string][]string{
	"up":                                 {},
	"process_start_time_seconds":         {},
	"process_resident_memory_bytes":      {},
	"process_cpu_seconds_total":          {},
	"zeebe_job_events_total":             {"type", "action", "partition"},
	"zeebe_pending_incidents_total":      {"partition"},
	"zeebe_received_request_count_total": {"partition"},
	"zeebe_dropped_request_count_total":  {"partition"},
	"zeebe_health":                       {"partition"},
}

// known are all metrics that an expression may name, with their labels. Those of a histogram are there under the names of
// its series.
func known(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../internal/metrics/testdata/catalogue.golden")
	if err != nil {
		t.Fatal(err)
	}
	metrics := maps.Clone(outside)
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, "\t")
		kind, rest, _ := strings.Cut(rest, "\t")
		list, _, _ := strings.Cut(rest, "\t")
		names := slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
		if kind != "histogram" {
			metrics[name] = names
			continue
		}
		metrics[name+"_sum"], metrics[name+"_count"] = names, names
		metrics[name+"_bucket"] = append(slices.Clone(names), "le")
	}
	for name := range metrics { // those that a scrape adds
		metrics[name] = append(slices.Clone(metrics[name]), "namespace", "job", "instance")
	}
	return metrics
}

var (
	interval = regexp.MustCompile(`\$__(rate_interval|range)\b`)
	variable = regexp.MustCompile(`\$[a-z_]+`)
	fixed    = regexp.MustCompile(`\brate\([^\[]*\[[^$]`)
	legend   = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

func TestEveryExpressionAsksForSeriesThatThereAre(t *testing.T) {
	metrics, used := known(t), map[string]bool{}
	for _, p := range read(t).drawn() {
		if len(p.Targets) == 0 {
			t.Errorf("%s asks for nothing", p.Title)
		}
		for _, q := range p.Targets {
			where := fmt.Sprintf("%s (%s)", p.Title, q.RefID)
			if q.Instant == q.Range {
				t.Errorf("%s: instant %v, range %v, want one of them", where, q.Instant, q.Range)
			}
			if ds := q.Datasource; ds != p.Datasource || ds.UID != "${DS_PROMETHEUS}" || ds.Type != "prometheus" {
				t.Errorf("%s asks %v, want the variable DS_PROMETHEUS", where, ds)
			}
			for _, fault := range faults(q.Expr, metrics, used) {
				t.Errorf("%s: %s:\n%s", where, fault, q.Expr)
			}
			by := labelsOf(q.Expr)
			for _, name := range legend.FindAllStringSubmatch(q.LegendFormat, -1) {
				if by != nil && !slices.Contains(by, name[1]) {
					t.Errorf("%s: the legend %q names a label that the expression takes away:\n%s", where, q.LegendFormat, q.Expr)
				}
			}
		}
	}
	for name := range outside {
		if !used[name] {
			t.Errorf("no panel asks for %s; take it out of the list", name)
		}
	}
}

func parse(expr string) (parser.Expr, error) {
	expr = variable.ReplaceAllString(interval.ReplaceAllString(expr, "5m"), "x")
	return parser.NewParser(parser.Options{}).ParseExpr(expr)
}

// faults says what is wrong with an expression, and marks the metrics that it uses.
func faults(expr string, metrics map[string][]string, used map[string]bool) (list []string) {
	parsed, err := parse(expr)
	if err != nil {
		return []string{err.Error()}
	}
	if fixed.MatchString(expr) {
		list = append(list, "the window of its rate is fixed: where scrapes are rarer it has no answer")
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			has, ok := metrics[n.Name]
			if !ok {
				list = append(list, "there is no metric "+n.Name)
			}
			used[n.Name] = true
			list = append(list, foreign(n, has)...)
		case *parser.AggregateExpr:
			for _, label := range n.Grouping {
				if !inAll(n.Expr, label, metrics) {
					list = append(list, "it groups by "+label+", which not all of the series have")
				}
			}
		}
		return nil
	})
	return list
}

// foreign says which labels a selector names that its metric does not have, or of those above the panels lacks.
func foreign(n *parser.VectorSelector, has []string) (list []string) {
	var names []string
	for _, m := range n.LabelMatchers {
		names = append(names, m.Name)
		if m.Name != "__name__" && !slices.Contains(has, m.Name) {
			list = append(list, n.Name+" has no label "+m.Name)
		}
	}
	if !slices.Contains(names, "namespace") {
		list = append(list, n.Name+" is asked for in every namespace")
	}
	if !strings.HasPrefix(n.Name, "zeebe_") && !slices.Contains(names, "job") {
		list = append(list, n.Name+" is asked for of every job")
	}
	return list
}

func inAll(expr parser.Expr, label string, metrics map[string][]string) bool {
	all := true
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if n, ok := node.(*parser.VectorSelector); ok && !slices.Contains(metrics[n.Name], label) {
			all = false
		}
		return nil
	})
	return all
}

// labelsOf are the labels that the result of an expression has, nil where it has all that its series have.
func labelsOf(expr string) (by []string) {
	parsed, err := parse(expr)
	if err != nil {
		return nil
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if a, ok := node.(*parser.AggregateExpr); ok && by == nil {
			by = append([]string{}, a.Grouping...)
		}
		return nil
	})
	return by
}
