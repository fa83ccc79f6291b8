package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const list = "../licenses.csv"

// built holds the worker, built once for all tests here.
var built struct {
	once sync.Once
	path string
	err  error
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sbom")
	if err != nil {
		panic(err)
	}
	built.path = filepath.Join(dir, "worker")
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func worker(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", built.path, "./cmd/worker")
		build.Dir = "../../.."
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		if built.err = err; err != nil {
			t.Logf("%s", out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

func document(t *testing.T) (string, []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "worker.cdx.json")
	if err := run("v1.2.3", list, path, worker(t)); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, content
}

func TestTheDocumentNamesEveryModuleOfTheBinary(t *testing.T) {
	_, content := document(t)
	bom := new(cdx.BOM)
	if err := cdx.NewBOMDecoder(bytes.NewReader(content), cdx.BOMFileFormatJSON).Decode(bom); err != nil {
		t.Fatal(err)
	}
	has := map[string]cdx.Component{}
	for _, c := range *bom.Components {
		has[c.PackageURL] = c
	}
	info, err := buildinfo.ReadFile(worker(t))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go"): true}
	for _, m := range info.Deps {
		want["pkg:golang/"+m.Path+"@"+m.Version] = true
	}
	for purl := range want {
		c, there := has[purl]
		if !there {
			t.Errorf("%s is linked and not in the document", purl)
			continue
		}
		if c.Version == "" || c.Licenses == nil || (*c.Licenses)[0].Expression == "" {
			t.Errorf("%s lacks its version or licence: %+v", purl, c)
		}
	}
	for purl := range has {
		if !want[purl] {
			t.Errorf("%s is in the document and not linked", purl)
		}
	}
	if main := bom.Metadata.Component; main.Version != "v1.2.3" || main.Name != info.Main.Path || main.Hashes == nil {
		t.Errorf("the worker itself: %+v", main)
	}
}

func TestTheSameBinaryGivesTheSameDocument(t *testing.T) {
	_, first := document(t)
	_, second := document(t)
	if !bytes.Equal(first, second) {
		t.Error("two documents of one binary differ")
	}
}

// schemas returns the directory of CycloneDX's own schemas, which lie in the module of its library.
func schemas(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "schema")
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{
		"bom-1.6.schema.json":  "bom-1.6.schema.json",
		"spdx.schema.json":     "spdx.schema.json",
		"jsf-0.82.schema.json": "jsf-0.82.schemax.json", // the library's own spelling
	} {
		content, err := os.ReadFile(filepath.Join(schemas(t), file))
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+name, parsed); err != nil {
			t.Fatal(err)
		}
	}
	compiled, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestTheDocumentIsValidByTheSchemaOfCycloneDX(t *testing.T) {
	_, content := document(t)
	var parsed map[string]any
	if err := json.Unmarshal(content, &parsed); err != nil {
		t.Fatal(err)
	}
	if v := parsed["specVersion"]; v != "1.6" {
		t.Errorf("it calls itself one of version %v", v)
	}
	valid := schema(t)
	if err := valid.Validate(parsed); err != nil {
		t.Error(err)
	}
	parsed["specVersion"] = 1.6
	if valid.Validate(parsed) == nil {
		t.Error("the schema finds no fault with a number for a version")
	}
}

func TestAModuleThatTheListOfLicencesLacksIsNamed(t *testing.T) {
	licences, err := readLicences(list)
	if err != nil {
		t.Fatal(err)
	}
	short := maps.Clone(licences)
	delete(short, "google.golang.org/grpc")
	if _, err := describe("v1.2.3", short, worker(t)); err == nil || !strings.Contains(err.Error(), "lacks google.golang.org/grpc:") {
		t.Errorf("got %v", err)
	}
}
