package main

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"hospital.example/analyze-retry/deploy/deploytest"
)

const list = "../licenses.csv"

// schema compiles CycloneDX's own schema, which is in the module of its library.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	module, err := deploytest.Run(t, ".", "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go")
	if err != nil {
		t.Fatal(module)
	}
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{
		"bom-1.6.schema.json":  "bom-1.6.schema.json",
		"spdx.schema.json":     "spdx.schema.json",
		"jsf-0.82.schema.json": "jsf-0.82.schemax.json", // the library's own spelling
	} {
		content, err := os.ReadFile(filepath.Join(strings.TrimSpace(module), "schema", file))
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
	return compiler.MustCompile("http://cyclonedx.org/schema/bom-1.6.schema.json")
}

func TestTheDocumentNamesEveryModuleOfTheBinary(t *testing.T) {
	worker := deploytest.Worker(t)
	var contents [2][]byte
	for i := range contents {
		path := filepath.Join(t.TempDir(), "worker.cdx.json")
		if err := run("v1.2.3", list, path, worker); err != nil {
			t.Fatal(err)
		}
		var err error
		if contents[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(contents[0], contents[1]) {
		t.Error("two documents of one binary differ")
	}

	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(contents[0]))
	if err != nil {
		t.Fatal(err)
	}
	valid := schema(t)
	if err := valid.Validate(parsed); err != nil {
		t.Error(err)
	}
	parsed.(map[string]any)["specVersion"] = 1.6
	if valid.Validate(parsed) == nil {
		t.Error("the schema finds no fault with a number for a version")
	}

	info, err := buildinfo.ReadFile(worker)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go"): true}
	for _, m := range info.Deps {
		want["pkg:golang/"+strings.ToLower(m.Path)+"@"+strings.ReplaceAll(m.Version, "+", "%2B")] = true
	}
	bom, got := new(cdx.BOM), map[string]bool{}
	if err := cdx.NewBOMDecoder(bytes.NewReader(contents[0]), cdx.BOMFileFormatJSON).Decode(bom); err != nil {
		t.Fatal(err)
	}
	for _, c := range *bom.Components {
		got[c.PackageURL] = c.Version != "" && c.Licenses != nil && (*c.Licenses)[0].Expression != ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modules with a version and a licence (-linked +document):\n%s", diff)
	}
	if main := bom.Metadata.Component; main.Version != "v1.2.3" || main.Name != info.Main.Path || main.Hashes == nil {
		t.Errorf("the worker itself: %+v", main)
	}

	licences, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	short := regexp.MustCompile(`(?m)^google.golang.org/grpc,.*\n`).ReplaceAllString(string(licences), "")
	if _, err := describe("v1.2.3", short, worker); err == nil || !strings.Contains(err.Error(), "lacks google.golang.org/grpc:") {
		t.Errorf("a list that lacks a module gives %v", err)
	}
}
