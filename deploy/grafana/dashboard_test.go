package grafana_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/deploy/deploytest"
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
		Overrides []struct{ Matcher struct{ ID, Options string } }
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
	want := map[string]string{"DS_PROMETHEUS": "datasource", "namespace": "query", "job": "query", "policy": "query", "job_type": "query"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}

func TestEveryPanelHasDescriptionUnitAndThresholds(t *testing.T) {
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
		// A lamp or a number of the day shows good and bad by its colour.
		if p.Type == "stat" && len(d.Thresholds.Steps) < 2 {
			t.Errorf("%s never changes its colour", p.Title)
		}
	}
}

// "6 K" says nothing without its unit.
func TestEveryAxisHasAUnit(t *testing.T) {
	for _, p := range read(t).drawn() {
		if unit := p.FieldConfig.Defaults.Unit; p.Type == "timeseries" && (unit == "short" || unit == "none") {
			t.Errorf("%s: its axis has the unit %q", p.Title, unit)
		}
	}
}

// What meets the target in the title is green.
func TestTargetInATitleIsWhereTheColourChanges(t *testing.T) {
	target := regexp.MustCompile(`\(target (≥|≤|<) ([0-9.]+)( %| h| min)?\)`)
	scale := map[string]float64{" %": 0.01, " h": 3600, " min": 60, "": 1}
	found := 0
	for _, p := range read(t).drawn() {
		stated := target.FindStringSubmatch(p.Title)
		if stated == nil {
			continue
		}
		found++
		value, err := strconv.ParseFloat(stated[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		steps := p.FieldConfig.Defaults.Thresholds.Steps
		before, after := steps[0].Color, steps[1].Color
		if stated[1] == "≥" {
			before, after = after, before
		}
		if math.Abs(*steps[1].Value-value*scale[stated[3]]) > 1e-9 || before != "green" || after == "green" {
			t.Errorf("%s: the colour changes at %v, from %s to %s", p.Title, *steps[1].Value, steps[0].Color, steps[1].Color)
		}
	}
	if found != 6 {
		t.Errorf("%d titles with a target, want 6", found)
	}
}

func TestMemoryIsShownAgainstTheChartsLimit(t *testing.T) {
	var values struct {
		Resources struct{ Limits struct{ Memory string } }
	}
	if err := yaml.Unmarshal([]byte(deploytest.Read(t, "deploy/helm/analyze-retry/values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	for _, p := range read(t).drawn() {
		if p.Title != "Memory" {
			continue
		}
		if got, want := fmt.Sprintf("%gMi", *p.FieldConfig.Defaults.Thresholds.Steps[1].Value/(1<<20)), values.Resources.Limits.Memory; got != want {
			t.Errorf("the limit in the panel is %s, in the chart %s", got, want)
		}
		return
	}
	t.Error("there is no panel Memory")
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

func TestWhatIsPaintedIsASeriesOfItsPanel(t *testing.T) {
	for _, p := range read(t).drawn() {
		for _, o := range p.FieldConfig.Overrides {
			found := false
			for _, q := range p.Targets {
				// What the labels will be is not known here.
				before, _, labelled := strings.Cut(q.LegendFormat, "{{")
				found = found || o.Matcher.Options == q.LegendFormat || labelled && strings.HasPrefix(o.Matcher.Options, before)
			}
			if !found || o.Matcher.ID != "byName" {
				t.Errorf("%s paints %q, which is no name of its series", p.Title, o.Matcher.Options)
			}
		}
	}
}
