package compose_test

import (
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	"sigs.k8s.io/yaml"
)

// mounted returns where a path inside a service's container lies on this machine.
func mounted(t *testing.T, s types.ServiceConfig, inside string) string {
	t.Helper()
	for _, v := range s.Volumes {
		if v.Target == inside {
			return v.Source
		}
	}
	t.Fatalf("nothing is mounted at %s of %s", inside, s.Name)
	return ""
}

func parse(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func TestPrometheusScrapesTheWorkerWithItsTokenAndTheBroker(t *testing.T) {
	var config struct {
		ScrapeConfigs []struct {
			JobName       string `json:"job_name"`
			MetricsPath   string `json:"metrics_path"`
			Authorization struct {
				CredentialsFile string `json:"credentials_file"`
			} `json:"authorization"`
			StaticConfigs []struct {
				Targets []string          `json:"targets"`
				Labels  map[string]string `json:"labels"`
			} `json:"static_configs"`
		} `json:"scrape_configs"`
	}
	p := load(t, all)
	parse(t, mounted(t, p.Services["prometheus"], "/etc/prometheus/prometheus.yml"), &config)
	jobs := map[string]string{}
	for _, job := range config.ScrapeConfigs {
		target := job.StaticConfigs[0].Targets[0]
		if namespace := job.StaticConfigs[0].Labels["namespace"]; namespace != "compose" {
			t.Errorf("%s has the namespace %q; the dashboards want one for all", job.JobName, namespace)
		}
		service, _, _ := strings.Cut(target, ":")
		if _, there := p.Services[service]; !there {
			t.Errorf("%s scrapes %s, which is no service", job.JobName, target)
		}
		jobs[job.JobName] = target + job.MetricsPath + " " + job.Authorization.CredentialsFile
	}
	if got := jobs["analyze-retry"]; got != "worker:8080 /run/secrets/http-token" {
		t.Errorf("the worker is scraped at %s", got)
	}
	if got := jobs["zeebe"]; got != "zeebe:9600/actuator/prometheus " {
		t.Errorf("the broker is scraped at %s", got)
	}
	for _, name := range []string{"worker", "prometheus"} {
		if !slices.ContainsFunc(p.Services[name].Secrets, func(s types.ServiceSecretConfig) bool { return s.Source == "http-token" }) {
			t.Errorf("%s has no token", name)
		}
	}
}

func TestGrafanaFindsTheDashboardAndPrometheus(t *testing.T) {
	p := load(t, all)
	s := p.Services["grafana"]
	var sources struct {
		Datasources []struct {
			Type, URL string
			IsDefault bool
		}
	}
	parse(t, mounted(t, s, "/etc/grafana/provisioning/datasources/prometheus.yml"), &sources)
	if len(sources.Datasources) != 1 || sources.Datasources[0].Type != "prometheus" || !sources.Datasources[0].IsDefault {
		t.Fatalf("data sources %+v", sources)
	}
	at, err := url.Parse(sources.Datasources[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	if target := p.Services[at.Hostname()].Ports; len(target) != 1 || at.Port() != target[0].Published {
		t.Errorf("the data source is at %s", at)
	}
	var providers struct {
		Providers []struct {
			Options struct{ Path string }
		}
	}
	parse(t, mounted(t, s, "/etc/grafana/provisioning/dashboards/analyze-retry.yml"), &providers)
	home := *s.Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
	if len(providers.Providers) != 1 || providers.Providers[0].Options.Path != path.Dir(home) {
		t.Fatalf("dashboards are looked for in %+v, the first one is %s", providers, home)
	}
	var dashboard struct{ UID string }
	parse(t, mounted(t, s, home), &dashboard)
	if dashboard.UID != "analyze-retry" {
		t.Errorf("the dashboard is called %q, not as the comment in docker-compose.yml says", dashboard.UID)
	}
}
