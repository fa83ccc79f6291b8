package grafana

import (
	"fmt"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// about is what every panel has to say of itself.
type about struct {
	title, description, unit string
}

// query is an expression, and how its series are called in the legend.
type query struct {
	expr, legend string
}

// What a threshold or a state looks like.
const (
	good = "green"
	warn = "orange"
	bad  = "red"
	idle = "text"
	blue = "blue"
)

// worker selects series of the worker; matchers are further ones, such as policy="smtp".
func worker(metric string, matchers ...string) string {
	return metric + "{" + strings.Join(append([]string{`namespace=~"$namespace"`, `job=~"$job"`}, matchers...), ",") + "}"
}

// ofPolicies selects series of the worker that are about the policies chosen above the panels.
func ofPolicies(metric string, matchers ...string) string {
	return worker(metric, append([]string{`policy=~"$policy"`}, matchers...)...)
}

// broker selects series of the Zeebe broker, which is another scrape job of the same namespace.
func broker(metric string, matchers ...string) string {
	return metric + "{" + strings.Join(append([]string{`namespace=~"$namespace"`}, matchers...), ",") + "}"
}

// perMinute is how often something happened, over all replicas.
func perMinute(selector string, by ...string) string {
	return sumBy(by, "rate("+selector+"[$__rate_interval])") + " * 60"
}

// inRange is how often something happened in the time range of the dashboard, over all replicas.
func inRange(selector string, by ...string) string { return inLast("$__range", selector, by...) }

// inLast is how often something happened within a duration, over all replicas.
func inLast(duration, selector string, by ...string) string {
	return sumBy(by, "increase("+selector+"["+duration+"])")
}

func sumBy(by []string, expr string) string {
	if len(by) == 0 {
		return "sum(" + expr + ")"
	}
	return "sum by (" + strings.Join(by, ", ") + ") (" + expr + ")"
}

// selector is [worker], [ofPolicies] or another function that selects series of a metric.
type selector func(metric string, matchers ...string) string

// quantile of a histogram, over all replicas; window is a range as inLast takes it.
func (of selector) quantile(q float64, histogram, window string) string {
	return fmt.Sprintf("histogram_quantile(%g, sum by (le) (rate(%s[%s])))", q, of(histogram+"_bucket"), window)
}

// mean of a histogram, over all replicas.
func (of selector) mean(histogram, window string) string {
	return fmt.Sprintf("sum(increase(%s[%s])) / sum(increase(%s[%s]))", of(histogram+"_sum"), window, of(histogram+"_count"), window)
}

// refs names the queries of a panel.
const refs = "ABCDEFGH"

// target makes the n-th query of a panel.
func target(n int, q query) *prometheus.DataqueryBuilder {
	b := prometheus.NewDataqueryBuilder().RefId(refs[n : n+1]).Expr(q.expr).Datasource(*source()).
		EditorMode(prometheus.QueryEditorModeCode)
	if q.legend != "" {
		b.LegendFormat(q.legend)
	}
	return b
}

func ranged(queries []query) (targets []cog.Builder[variants.Dataquery]) {
	for i, q := range queries {
		targets = append(targets, target(i, q).Range())
	}
	return targets
}

// step is where another colour begins.
type step struct {
	from  float64
	color string
}

// steps are thresholds: the first colour holds below all of them.
func steps(base string, above ...step) cog.Builder[dashboard.ThresholdsConfig] {
	list := []dashboard.Threshold{{Color: base}}
	for _, s := range above {
		list = append(list, dashboard.Threshold{Value: &s.from, Color: s.color})
	}
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(list)
}

// plain are the thresholds of what is neither good nor bad.
func plain() cog.Builder[dashboard.ThresholdsConfig] { return steps(blue) }

// now is a number as it stands, with a line of how it went behind it.
func now(a about, expr string, thresholds cog.Builder[dashboard.ThresholdsConfig]) *stat.PanelBuilder {
	return number(a, thresholds).
		GraphMode(common.BigValueGraphModeArea).
		WithTarget(target(0, query{expr: expr}).Range())
}

// total is a number over the whole time range.
func total(a about, expr string, thresholds cog.Builder[dashboard.ThresholdsConfig]) *stat.PanelBuilder {
	return number(a, thresholds).
		GraphMode(common.BigValueGraphModeNone).
		WithTarget(target(0, query{expr: expr}).Instant())
}

func number(a about, thresholds cog.Builder[dashboard.ThresholdsConfig]) *stat.PanelBuilder {
	return stat.NewPanelBuilder().
		Title(a.title).Description(a.description).Unit(a.unit).
		Height(4).Span(3).
		NoValue("no data").
		Thresholds(thresholds).
		ColorMode(common.BigValueColorModeBackground).
		TextMode(common.BigValueTextModeValue).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}))
}

// light is a state, 1 or 0, in words and colours; unknown are the words for NaN, or "".
func light(a about, expr, up, down, unknown string) *stat.PanelBuilder {
	result := func(text, color string) dashboard.ValueMappingResult {
		return dashboard.ValueMappingResult{Text: &text, Color: &color}
	}
	mappings := []dashboard.ValueMapping{{ValueMap: &dashboard.ValueMap{
		Type:    dashboard.MappingTypeValueToText,
		Options: map[string]dashboard.ValueMappingResult{"1": result(up, good), "0": result(down, bad)},
	}}}
	if unknown != "" {
		mappings = append(mappings, dashboard.ValueMapping{SpecialValueMap: &dashboard.SpecialValueMap{
			Type: dashboard.MappingTypeSpecialValue,
			Options: dashboard.DashboardSpecialValueMapOptions{
				Match: dashboard.SpecialValueMatchNaN, Result: result(unknown, idle),
			},
		}})
	}
	return number(a, steps(bad, step{1, good})).
		GraphMode(common.BigValueGraphModeNone).
		Mappings(mappings).
		WithTarget(target(0, query{expr: expr}).Range())
}

// lines is a graph over time.
func lines(a about, queries ...query) *timeseries.PanelBuilder {
	return timeseries.NewPanelBuilder().
		Title(a.title).Description(a.description).Unit(a.unit).
		Height(8).Span(8).
		Min(0).
		NoValue("no data").
		Thresholds(plain()).
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdPaletteClassic)).
		LineWidth(1).FillOpacity(10).
		ShowPoints(common.VisibilityModeNever).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).
			DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom).Calcs([]string{})).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending)).
		Targets(ranged(queries))
}

// fixed is the colour of one series.
func fixed(color string) map[string]any {
	return map[string]any{"mode": "fixed", "fixedColor": color}
}

// paint gives series their colours: name, colour, name, ... so that what is bad is red wherever it is shown.
func paint(namesAndColors ...string) (overrides []cog.Builder[dashboard.DashboardFieldConfigSourceOverrides]) {
	for pair := range slices.Chunk(namesAndColors, 2) {
		overrides = append(overrides, dashboard.NewDashboardFieldConfigSourceOverridesBuilder().
			Matcher(dashboard.MatcherConfig{Id: "byName", Options: pair[0]}).
			Properties([]dashboard.DynamicConfigValue{{Id: "color", Value: fixed(pair[1])}}))
	}
	return overrides
}

// bounded is a graph with its thresholds drawn into it.
func bounded(a about, thresholds cog.Builder[dashboard.ThresholdsConfig], queries ...query) *timeseries.PanelBuilder {
	return lines(a, queries...).
		Thresholds(thresholds).
		ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
}

// stacked is a graph of parts that make a whole.
func stacked(a about, queries ...query) *timeseries.PanelBuilder {
	return lines(a, queries...).
		FillOpacity(40).
		Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal).Group("A"))
}

// days is one bar a day over the last 30, whatever the time range of the dashboard.
func days(a about, queries ...query) *timeseries.PanelBuilder {
	return stacked(a, queries...).
		DrawStyle(common.GraphDrawStyleBars).
		FillOpacity(80).
		Decimals(0).
		Interval("1d").
		TimeFrom("30d").
		Span(12)
}

// bars compares series with one another; the query sorts them.
func bars(a about, q query) *bargauge.PanelBuilder {
	return bargauge.NewPanelBuilder().
		Title(a.title).Description(a.description).Unit(a.unit).
		Height(8).Span(8).
		Min(0).Decimals(0).
		NoValue("none").
		Thresholds(plain()).
		Orientation(common.VizOrientationHorizontal).
		DisplayMode(common.BarGaugeDisplayModeBasic).
		ShowUnfilled(true).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		WithTarget(target(0, q).Instant())
}

// heat shows how a classic histogram spreads over time.
func heat(a about, histogram string) *heatmap.PanelBuilder {
	q := query{inLast("$__rate_interval", ofPolicies(histogram+"_bucket"), "le"), "{{le}}"}
	return heatmap.NewPanelBuilder().
		Title(a.title).Description(a.description).Unit("short").
		Height(8).Span(12).
		NoValue("no data").
		Calculate(false).
		Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).Scheme("Oranges").
			Exponent(0.5).Steps(64).Scale(heatmap.HeatmapColorScaleExponential)).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit(a.unit).AxisPlacement(common.AxisPlacementLeft)).
		CellGap(1).
		Tooltip(heatmap.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle)).
		WithTarget(target(0, q).Range().Format(prometheus.PromQueryFormatHeatmap))
}

// list is a table of series, their labels as columns, the value named by column.
func list(a about, expr, column string) *table.PanelBuilder {
	return table.NewPanelBuilder().
		Title(a.title).Description(a.description).Unit(a.unit).
		Height(8).Span(8).
		NoValue("none").
		Thresholds(plain()).
		WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"excludeByName": map[string]any{"Time": true},
			"renameByName":  map[string]any{"Value": column},
		}}).
		WithTarget(target(0, query{expr: expr}).Instant().Format(prometheus.PromQueryFormatTable))
}
