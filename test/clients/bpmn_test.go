//go:build clients

package clients

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
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
	if read < 40 {
		t.Errorf("%d models were compared, want all", read)
	}
}

// modelFiles returns the models of the repository.
func modelFiles(t *testing.T) (files []string) {
	t.Helper()
	folders := []string{"bpmn", "examples", "bench", "test/*", "test/*/testdata", "internal/*/testdata/*"}
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join("../..", folder, "*.bpmn"))
		check.Must(t, err)
		files = append(files, found...)
	}
	return append(files, everything)
}

func reads(t *testing.T, file string) bool {
	t.Helper()
	content, err := os.ReadFile(file)
	check.Must(t, err)
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
