package policy_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/policy"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); if it is meant, run go test ./internal/policy -update:\n%s", path, diff)
	}
}

func TestEveryFaultOfABrokenFileIsToldWithFileLineAndReason(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no broken files", err)
	}
	var got strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		set, err := policy.Parse(filepath.Base(file), text)
		if err == nil {
			t.Errorf("%s is taken, with %v", file, set.Names())
			continue
		}
		if faults, ok := errors.AsType[policy.Faults](err); !ok || len(faults) == 0 {
			t.Errorf("%s: the error is a %T", file, err)
		}
		got.WriteString(err.Error() + "\n\n")
	}
	checkGolden(t, "faults", got.String())
}
