package policy_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		check.Must(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	check.Must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); if it is meant, run go test ./internal/retry/policy -update:\n%s", path, diff)
	}
}

// glob returns the files of a pattern, at least one.
func glob(tb testing.TB, pattern string) []string {
	tb.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		tb.Fatalf("no files %s: %v", pattern, err)
	}
	return files
}

func TestEveryFaultIsReportedWithFileLineAndReason(t *testing.T) {
	var got strings.Builder
	for _, file := range glob(t, "testdata/broken/*.yaml") {
		content, err := os.ReadFile(file)
		check.Must(t, err)
		set, err := policy.Parse(filepath.Base(file), content)
		if err == nil {
			t.Errorf("%s is taken, with %v", file, set.Names())
			continue
		}
		if faults, ok := errors.AsType[text.Findings](err); !ok || len(faults) == 0 {
			t.Errorf("%s: the error is a %T", file, err)
		}
		got.WriteString(err.Error() + "\n\n")
	}
	checkGolden(t, "testdata/faults.golden", got.String())
}

// No file causes a panic, and each fault names the file. A valid file can be linted and written out.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/broken/*.yaml", "testdata/lint/*.yaml"} {
		for _, file := range glob(f, pattern) {
			content, err := os.ReadFile(file)
			check.Must(f, err)
			f.Add(string(content))
		}
	}
	f.Add("policies:\n- name: a\n  base: &a [*a]\n")
	f.Add("? [a]\n: b\n")
	f.Add("policies: [{name: a, extends: 5}, {name: b, extends: ''}, {name: c, extends: }]")
	f.Add("policies: [{name: a, <<: {extends: tiss}}, {name: b, <<: {name: c}, extends: tiss}]")
	f.Fuzz(func(t *testing.T, content string) {
		set, err := policy.Parse("fuzz.yaml", []byte(content))
		if err != nil {
			faults, ok := errors.AsType[text.Findings](err)
			if !ok || len(faults) == 0 {
				t.Fatalf("the error is a %T: %v", err, err)
			}
			for _, fault := range faults {
				if !strings.HasPrefix(fault.OneLine(), "fuzz.yaml") || fault.What.Format == "" {
					t.Errorf("a fault says %q", fault.OneLine())
				}
			}
			return
		}
		_ = set.Lint(1)
		for _, p := range set.All() {
			_, err := json.Marshal(p.Settings)
			check.Must(t, err)
		}
	})
}
