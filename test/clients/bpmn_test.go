//go:build clients

package clients

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/engine/model"
)

// everything is a model that has all that the engine reads.
const everything = "../../internal/testing/engine/model/testdata/everything.bpmn"

func TestModelsThatTheEngineReadsAreValidInCamundasLibrary(t *testing.T) {
	t.Parallel()
	files := modelFiles(t)
	read := 0
	for i, faults := range validate(t, files) {
		if reads(t, files[i]) {
			read++
			if faults != "" {
				t.Errorf("%s: %s", files[i], faults)
			}
		}
	}
	if read < 70 {
		t.Errorf("%d models were compared, want all", read)
	}
	compareVariants(t)
}

// compareVariants compares variants of a model, each without one element or attribute. What the XML schema of
// BPMN refuses is left out: the engine's reader does not know the schema.
func compareVariants(t *testing.T) {
	t.Helper()
	content, err := os.ReadFile(everything)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var files, without []string
	for _, cut := range slices.Concat(elements.FindAllIndex(content, -1), attributes.FindAllIndex(content, -1)) {
		file := filepath.Join(dir, fmt.Sprintf("%d.bpmn", len(files)))
		if err := os.WriteFile(file, slices.Concat(content[:cut[0]], content[cut[1]:]), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		line := bytes.Count(content[:cut[0]], []byte("\n")) + 1
		without = append(without, fmt.Sprintf("line %d without %s", line, bytes.TrimSpace(content[cut[0]:cut[1]])))
	}
	valid, invalid := 0, 0
	for i, faults := range validate(t, files) {
		switch is := reads(t, files[i]); {
		case strings.HasPrefix(faults, "schema: "):
		case is && faults != "":
			t.Errorf("%s: %s", without[i], faults)
		case is:
			valid++
		case faults != "":
			invalid++
		}
	}
	if valid < 50 || invalid < 20 {
		t.Errorf("%d variants are valid in both and %d in neither: too little was compared", valid, invalid)
	}
}

// elements and attributes match those of a model, of elements only those in one line.
var (
	elements   = regexp.MustCompile(`(?m)^ *<[\w:]+[^>]*(/>|>.*</[\w:]+>)\n`)
	attributes = regexp.MustCompile(` [\w:]+="[^"]*"`)
)

// modelFiles returns the models of the repository.
func modelFiles(t *testing.T) (files []string) {
	t.Helper()
	folders := []string{"bpmn", "examples", "bench", "test/*", "test/*/testdata", "internal/*/testdata/*"}
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join("../..", folder, "*.bpmn"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return append(files, everything)
}

func reads(t *testing.T, file string) bool {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = model.Read(content)
	return err == nil
}

// validate returns what Camunda's library finds wrong with each model; empty for nothing.
func validate(t *testing.T, files []string) (faults []string) {
	t.Helper()
	jars, classes := absolute(t, cache+"/bpmn"), absolute(t, cache+"/bpmn-classes")
	install(t, "bpmn/pom.xml", jars,
		"mvn", "-q", "-B", "-ntp", "-f", "bpmn/pom.xml", "dependency:copy-dependencies", "-DoutputDirectory="+jars)
	install(t, "bpmn/Validate.java", classes,
		"javac", "-encoding", "UTF-8", "-d", classes, "-cp", jars+"/*", "bpmn/Validate.java")
	program := exec.CommandContext(t.Context(), "java", "-XX:TieredStopAtLevel=1",
		"-cp", classes+":"+jars+"/*", "Validate")
	program.Stdin = strings.NewReader(strings.Join(files, "\n"))
	var errs bytes.Buffer
	program.Stderr = &errs
	out, err := program.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &errs)
	}
	faults = strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(faults) != len(files) {
		t.Fatalf("%d answers for %d models", len(faults), len(files))
	}
	return faults
}
