package helm_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"hospital.example/analyze-retry/deploy/deploytest"
)

// kubeSchemas are the strict schemas of Kubernetes, compiled when they are needed: one takes a second.
type kubeSchemas struct {
	wheel    *zip.ReadCloser
	compiled map[string]*jsonschema.Schema
}

func openKubeSchemas(t *testing.T) kubeSchemas {
	t.Helper()
	return kubeSchemas{deploytest.Wheel(t, "deploy/helm/kubernetes-validate.txt"), map[string]*jsonschema.Schema{}}
}

// of returns the schema of a kind in a Kubernetes version, nil if that has no such kind.
func (k kubeSchemas) of(t *testing.T, version, apiVersion, kind string) *jsonschema.Schema {
	t.Helper()
	dir := path.Join("kubernetes_validate/kubernetes-json-schema", "v"+version+"-local-strict")
	// networking.k8s.io/v1 -> networking-v1
	group := regexp.MustCompile(`^([^./]*)(?:\.[^/]*)?/`).ReplaceAllString(apiVersion, "$1-")
	file := fmt.Sprintf("%s/%s-%s.json", dir, strings.ToLower(kind), group)
	if schema, is := k.compiled[file]; is {
		return schema
	}
	compiler := jsonschema.NewCompiler()
	// The schemas point to /api/_definitions.json, and the newer ones say whose.
	definitions := dir + "/_definitions.json"
	for url, file := range map[string]string{
		"file:///schema.json": file, "file:///api/_definitions.json": definitions, "https://kubernetes.io/api/_definitions.json": definitions,
	} {
		text, err := fs.ReadFile(k.wheel, file)
		if errors.Is(err, fs.ErrNotExist) && url == "file:///schema.json" {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource(url, parsed); err != nil {
			t.Fatal(err)
		}
	}
	k.compiled[file] = compiler.MustCompile("file:///schema.json")
	return k.compiled[file]
}
