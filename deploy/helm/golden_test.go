package helm_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

// withShortFiles puts a rule and a dashboard of a line in the place of the long ones, which change for their own reasons.
func withShortFiles(c *chart.Chart) *chart.Chart {
	c.Files = []*chart.File{
		{Name: "files/analyze-retry.rules.yml", Data: []byte("groups:\n- name: a\n  rules:\n  - record: a\n    expr: vector(1)\n")},
		{Name: "files/dashboard.json", Data: []byte("{\n  \"title\": \"{{job}}\"\n}\n")},
	}
	return c
}

func TestWhatIsRenderedIsWhatTheGoldensShow(t *testing.T) {
	seen := map[string]bool{}
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			texts, err := render(withShortFiles(load(t)), values)
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for _, template := range slices.Sorted(maps.Keys(texts)) {
				text := texts[template]
				seen[template] = true
				if template == "NOTES.txt" { // not an object
					text = "# " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n# ") + "\n"
				}
				all.WriteString("---\n# " + template + "\n" + text)
			}
			golden(t, filepath.Join("testdata", name+".golden.yaml"), all.String())
		})
	}
	for _, template := range load(t).Templates {
		if name := filepath.Base(template.Name); !strings.HasPrefix(name, "_") && !seen[name] {
			t.Errorf("no value file of testdata renders anything of %s", name)
		}
	}
}

func TestHelmLintFindsNothing(t *testing.T) {
	for name, values := range valueFiles(t) {
		for _, version := range []string{oldest, newest} {
			kube, err := chartutil.ParseKubeVersion(version)
			if err != nil {
				t.Fatal(err)
			}
			// As with --strict, a warning is a fault.
			for _, m := range lint.AllWithKubeVersion(chartDir, values, "claims", kube).Messages {
				if m.Severity >= support.WarningSev {
					t.Errorf("%s on Kubernetes %s: %s", name, version, m.Error())
				}
			}
		}
	}
}

func TestTheChartInstallsOnTheCheckedKubernetesVersions(t *testing.T) {
	constraint := load(t).Metadata.KubeVersion
	for version, want := range map[string]bool{"v" + oldest: true, "v" + newest: true, "v1.27.3-eks-a5565ad": true, "v1.26.9": false} {
		if got := chartutil.IsCompatibleRange(constraint, version); got != want {
			t.Errorf("%s on Kubernetes %s: %v, want %v", constraint, version, got, want)
		}
	}
}

func TestThePackageRendersAsTheDirectoryDoes(t *testing.T) {
	path, err := chartutil.Save(load(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	packed, err := loader.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range valueFiles(t) {
		want, err := render(load(t), values)
		if err != nil {
			t.Fatal(err)
		}
		got, err := render(packed, values)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-directory +package):\n%s", name, diff)
		}
	}
}
