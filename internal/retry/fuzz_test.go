package retry_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

func FuzzClassify(f *testing.F) {
	for _, known := range knownErrors {
		f.Add("erro " + strings.ToLower(known.code) + " \x00\u202e")
	}
	f.Add(strings.Repeat("TIMEOU", 20_000))
	f.Add("\xff\xfe TIMEOUT")
	tiss := policy.BuiltIn("tiss")
	f.Fuzz(func(t *testing.T, text string) {
		got := tiss.Classify(text)
		upper := upper(text)
		switch got.Class {
		case retry.Permanent, retry.Transient:
			if !strings.Contains(upper, got.Code) {
				t.Errorf("%q matched %s, which it does not contain", text, got.RuleID)
			}
		case retry.Unknown:
			for _, known := range knownErrors {
				if strings.Contains(upper, known.code) {
					t.Errorf("%q contains %s and is UNKNOWN", text, known.code)
				}
			}
		}
		if got.Class == retry.Permanent {
			return
		}
		for _, known := range knownErrors[:5] {
			if strings.Contains(upper, known.code) {
				t.Errorf("%q contains %s and is %s", text, known.code, got.Class)
			}
		}
	})
}
