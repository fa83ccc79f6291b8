// Package helm_test renders the chart with Helm's own library and holds what comes out to what it should be. It needs
// no helm and no cluster.
package helm_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"
)

const (
	chartDir = "analyze-retry"
	// oldest and newest are the Kubernetes versions that objects are checked against. The chart names the oldest as the
	// least that it installs on.
	oldest, newest = "1.27.0", "1.37.0"
)

var update = flag.Bool("update", false, "write the goldens, the table in the chart's README.md, and the chart's copies of rules and dashboard")

// valueFiles are the ways to install that are rendered, by name.
func valueFiles(t *testing.T) map[string]chartutil.Values {
	t.Helper()
	files := map[string]chartutil.Values{}
	paths, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, ".golden.yaml") {
			continue
		}
		values, err := chartutil.ReadValuesFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(filepath.Base(path), ".yaml")] = values
	}
	if len(files) < 5 {
		t.Fatalf("only %d value files in testdata", len(files))
	}
	return files
}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render is `helm install billing analyze-retry --namespace claims`, without the installing: texts by template.
func render(c *chart.Chart, values chartutil.Values) (map[string]string, error) {
	version, err := chartutil.ParseKubeVersion(newest)
	if err != nil {
		return nil, err
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = *version
	options := chartutil.ReleaseOptions{Name: "billing", Namespace: "claims", IsInstall: true, Revision: 1}
	all, err := chartutil.ToRenderValues(c, values, options, capabilities)
	if err != nil {
		return nil, err
	}
	rendered, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for path, text := range rendered {
		if name := filepath.Base(path); strings.TrimSpace(text) != "" && !strings.HasPrefix(name, "_") {
			texts[name] = strings.TrimSpace(text) + "\n"
		}
	}
	return texts, nil
}

// object is one rendered object.
type object struct {
	name string // kind and name, for messages
	kind string
	yaml []byte
	tree map[string]any
}

// objects renders the chart and takes it apart.
func objects(t *testing.T, values chartutil.Values) []object {
	t.Helper()
	texts, err := render(load(t), values)
	if err != nil {
		t.Fatal(err)
	}
	var found []object
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if name == "NOTES.txt" {
			continue
		}
		for text := range strings.SplitSeq(texts[name], "\n---\n") {
			o := object{yaml: []byte(text)}
			if err := yaml.UnmarshalStrict(o.yaml, &o.tree); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			o.kind = at[string](o.tree, "kind")
			o.name = fmt.Sprintf("%s %s", o.kind, at[string](o.tree, "metadata", "name"))
			found = append(found, o)
		}
	}
	return found
}

// at is the value at a path, or the zero value where there is none.
func at[T any](tree map[string]any, path ...string) T {
	var value any = tree
	for _, key := range path {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	typed, _ := value.(T)
	return typed
}

// one is the object of that kind, of which there must be one.
func one(t *testing.T, all []object, kind string) object {
	t.Helper()
	i := slices.IndexFunc(all, func(o object) bool { return o.kind == kind })
	if i < 0 {
		t.Fatalf("no %s is rendered", kind)
	}
	return all[i]
}

// decode reads an object into its Go type, minding no unknown field: strictness is the schemas' part.
func decode[T any](t *testing.T, o object) T {
	t.Helper()
	var typed T
	if err := yaml.Unmarshal(o.yaml, &typed); err != nil {
		t.Fatalf("%s: %v", o.name, err)
	}
	return typed
}

// values reads values from YAML, over those of a file.
func values(t *testing.T, base, text string) chartutil.Values {
	t.Helper()
	over, err := chartutil.ReadValues([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if base == "" {
		return over
	}
	// CoalesceTables changes what it is given.
	return chartutil.CoalesceTables(over, valueFiles(t)[base])
}

// golden compares a text with a file, or writes the file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is stale; look at what `go test ./helm -update` changes in it", path)
	}
}
