// Package grafana makes dashboard.json, the dashboard for those who keep the worker running.
//
// To change it, change this package and run its tests with -update. Nothing may be changed in the file itself, or in
// Grafana without bringing it here: a test compares.
package grafana

import (
	"encoding/json"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// UID is the dashboard's address in every Grafana: /d/analyze-retry.
const UID = "analyze-retry"

// docs is where the links of the dashboard lead.
const docs = "https://hospital.example/analyze-retry/docs/"

// JSON returns the dashboard as Grafana reads it.
func JSON() ([]byte, error) {
	d, err := build()
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the dashboard: %w", err)
	}
	return append(text, '\n'), nil
}

// row is a line of the dashboard that can be folded.
type row struct {
	title  string
	panels []cog.Builder[dashboard.Panel]
}

// rows stand in the order in which an operator who was woken looks: does it work, how well, and then what does it do.
func rows() []row {
	return []row{
		{"State", state()},
		{"Targets, over the time range above", kpis()},
		{"Claims that have not ended", claims()},
		{"Decisions", decisions()},
		{"Waits", waits()},
		{"Outcomes", outcomes()},
		{"E-mail, policy smtp", emails()},
		{"Jobs and broker", jobs()},
		{"Store, events and audit trail", storage()},
		{"Per day", perDay()},
		{"Policies and build", builds()},
	}
}

func build() (dashboard.Dashboard, error) {
	b := dashboard.NewDashboardBuilder("analyze-retry").
		Uid(UID).
		Description("Retries of claims (RN-BIL-005): whether the worker works, what it decides and how the claims end. Made by deploy/grafana.").
		Tags([]string{"analyze-retry", "zeebe", "generated"}).
		Time("now-24h", "now").
		Refresh("30s").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Link(dashboard.NewDashboardLinkBuilder("Runbooks").Type(dashboard.DashboardLinkTypeLink).Icon("doc").
			Tooltip("What to do about an alert").Url(docs + "runbooks/README.md").TargetBlank(true)).
		Link(dashboard.NewDashboardLinkBuilder("About this dashboard").Type(dashboard.DashboardLinkTypeLink).Icon("question").
			Tooltip("What the rows mean").Url(docs + "dashboard.md").TargetBlank(true))
	for _, v := range variables() {
		b = b.WithVariable(v)
	}
	for _, r := range rows() {
		b = b.WithRow(dashboard.NewRowBuilder(r.title))
		for _, p := range r.panels {
			b = b.WithPanel(p)
		}
	}
	d, err := b.Build()
	if err != nil {
		return d, fmt.Errorf("build the dashboard: %w", err)
	}
	// Ids by place: links to a panel hold as long as no panel comes before it.
	for i := range d.Panels {
		id := uint32(i + 1)
		if p := d.Panels[i].Panel; p != nil {
			p.Id, p.Datasource = &id, source()
		} else {
			d.Panels[i].RowPanel.Id = id
		}
	}
	return d, nil
}

// source is the Prometheus that is chosen above the panels.
func source() *common.DataSourceRef {
	return &common.DataSourceRef{Type: new("prometheus"), Uid: new("${DS_PROMETHEUS}")}
}

// The variables stand in selectors as =~"$name": several may be chosen. "All" is .* for the namespace, which so finds series
// that have none, too.
func variables() []cog.Builder[dashboard.VariableModel] {
	return []cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("DS_PROMETHEUS").Label("Prometheus").Type("prometheus"),
		choice("namespace", "Namespace", "label_values(retry_build_info, namespace)").
			AllValue(".*").
			Current(option("All", "$__all")),
		choice("job", "Worker", `label_values(retry_build_info{namespace=~"$namespace"}, job)`).
			AllValue(".+").
			Description("The job of the scrape configuration. Several workers on job types of their own have several.").
			Current(option("analyze-retry", "analyze-retry")),
		choice("policy", "Policy", `label_values(retry_policy_info{namespace=~"$namespace",job=~"$job"}, policy)`).
			AllValue(".+").
			Description("For what is counted by policy. All adds claims, e-mails and other jobs up.").
			Current(option("tiss", "tiss")),
		choice("job_type", "Job type", `label_values(retry_jobs_active_limit{namespace=~"$namespace",job=~"$job"}, job_type)`).
			Description("The job types that the workers work; the broker's own counts are shown for these.").
			Current(option("All", "$__all")),
	}
}

func choice(name, label, query string) *dashboard.QueryVariableBuilder {
	return dashboard.NewQueryVariableBuilder(name).
		Label(label).
		Datasource(*source()).
		Query(dashboard.StringOrMap{Map: map[string]any{"query": query, "refId": name}}).
		Definition(query).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
		Sort(dashboard.VariableSortAlphabeticalAsc).
		Multi(true).
		IncludeAll(true)
}

func option(text, value string) dashboard.VariableOption {
	one := func(s string) dashboard.StringOrArrayOfString {
		return dashboard.StringOrArrayOfString{ArrayOfString: []string{s}}
	}
	return dashboard.VariableOption{Selected: new(true), Text: one(text), Value: one(value)}
}
