package policy_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		check.Must(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	check.Must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); if it is meant, run go test ./internal/policy -update:\n%s", path, diff)
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
		text, err := os.ReadFile(file)
		check.Must(t, err)
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

func TestDurationIsReadInBothNotations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "90s": 90 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "24h": 24 * time.Hour,
		"PT5M": 5 * time.Minute, "P1D": 24 * time.Hour, "PT1.5S": 1500 * time.Millisecond, "P2W": 14 * 24 * time.Hour,
		"PT4194326.258S": 4194326258 * time.Millisecond, // its seconds as a float are a nanosecond more
	} {
		if got, err := policy.ParseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v, want %v (%v)", text, got, want, err)
		}
	}
	for _, text := range []string{"", "5", "5 m", "1d", "P1Y", "P1M", "PT", "P", "P9999999999D", "PT5", "99999999999h"} {
		if got, err := policy.ParseDuration(text); err == nil && got != 0 {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

func TestNumbersInPlainDigitsAreReadAsWritten(t *testing.T) {
	for written, want := range map[string]string{
		"maxRetries: 0": "0 2 0.2", "maxRetries: 10": "10 2 0.2", "maxRetries: 1000": "1000 2 0.2", "maxRetries: 2.0": "2 2 0.2",
		"maxRetries: 1, factor: 1.5": "1 1.5 0.2", "maxRetries: 1, factor: 10": "1 10 0.2",
		"maxRetries: 1, jitter: {mode: proportional, share: .5}":  "1 2 0.5",
		"maxRetries: 1, jitter: {mode: proportional, share: 0.0}": "1 2 0",
		"maxRetries: 1, jitter: {mode: proportional, share: 1}":   "1 2 1",
	} {
		p, _ := parse(t, "policies:\n- {name: mine, extends: tiss, "+written+"}\n").Get("mine")
		check.Same(t, want, fmt.Sprint(p.MaxRetries, p.Factor, p.Jitter.Share), "how %s is read", written)
	}
}

// No file causes a panic, and each fault names the file. A valid file can be linted and written out.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/broken/*.yaml", "testdata/lint/*.yaml"} {
		for _, file := range glob(f, pattern) {
			text, err := os.ReadFile(file)
			check.Must(f, err)
			f.Add(string(text))
		}
	}
	f.Add("policies:\n- name: a\n  base: &a [*a]\n")
	f.Add("? [a]\n: b\n")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := policy.Parse("fuzz.yaml", []byte(text))
		if err != nil {
			faults, ok := errors.AsType[policy.Faults](err)
			if !ok || len(faults) == 0 {
				t.Fatalf("the error is a %T: %v", err, err)
			}
			for _, fault := range faults {
				if !strings.HasPrefix(fault.Error(), "fuzz.yaml:") || fault.Problem == "" {
					t.Errorf("a fault says %q", fault)
				}
			}
			return
		}
		for p := range set.All() {
			set.Lint(p.Name, 1)
			if _, known := set.Entry(p.Name); !known {
				t.Errorf("%s is not written anywhere", p.Name)
			}
		}
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"5m", "PT5M", "P1D", "P1Y", "P", "PT", "P9999999999D", "-5m", "1h30m", "PT-5M", "PT1e5S", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := policy.ParseDuration(text); err == nil && d < 0 && !strings.HasPrefix(text, "-") {
			t.Errorf("%q is %v", text, d)
		}
	})
}
