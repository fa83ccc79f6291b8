package policy_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

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
