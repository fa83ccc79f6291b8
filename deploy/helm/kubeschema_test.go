//go:build servers

package helm_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"hospital.example/analyze-retry/deploy/deploytest"
)

// kubeSchemas are the strict schemas of Kubernetes, by version. What their definitions make is compiled once.
type kubeSchemas struct {
	wheel     *zip.ReadCloser
	compilers map[string]*jsonschema.Compiler
}

func openKubeSchemas(t *testing.T) kubeSchemas {
	t.Helper()
	return kubeSchemas{deploytest.Wheel(t, "deploy/helm/kubernetes-validate.txt"), map[string]*jsonschema.Compiler{}}
}

// of returns the schema of a kind in a Kubernetes version, nil if that has no such kind.
func (k kubeSchemas) of(t *testing.T, version, apiVersion, kind string) *jsonschema.Schema {
	t.Helper()
	read := func(name string) (any, error) {
		text, err := fs.ReadFile(k.wheel, path.Join("kubernetes_validate/kubernetes-json-schema", "v"+version+"-local-strict", name))
		if err != nil {
			return nil, err
		}
		return jsonschema.UnmarshalJSON(bytes.NewReader(text))
	}
	compiler := k.compilers[version]
	if compiler == nil {
		compiler = jsonschema.NewCompiler()
		k.compilers[version] = compiler
		definitions, err := read("_definitions.json")
		if err != nil {
			t.Fatal(err)
		}
		// The schemas point to it, and the newer ones say whose it is.
		for _, url := range []string{"file:///api/_definitions.json", "https://kubernetes.io/api/_definitions.json"} {
			if err := compiler.AddResource(url, definitions); err != nil {
				t.Fatal(err)
			}
		}
	}
	// networking.k8s.io/v1 -> networking-v1
	group := regexp.MustCompile(`^([^./]*)(?:\.[^/]*)?/`).ReplaceAllString(apiVersion, "$1-")
	name := strings.ToLower(kind) + "-" + group + ".json"
	schema, err := read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.AddResource("file:///"+name, schema); err != nil && !errors.As(err, new(*jsonschema.ResourceExistsError)) {
		t.Fatal(err)
	}
	return compiler.MustCompile("file:///" + name)
}
