package policy_test

import (
	"path/filepath"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestNumbersOfSettingsReplaceThoseOfTheDefaultPolicyOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, file, "policies: [{name: ours, extends: tiss}]")
	o := policy.Override{MaxRetries: 3, Base: 10 * time.Minute, Max: time.Hour}
	store, err := policy.OpenWith(o, file, "tiss")
	check.Must(t, err)
	for range 2 {
		tiss, _ := store.Current().Get("tiss")
		check.Same(t, []any{3, o.Base, o.Base, o.Max}, []any{tiss.MaxRetries, tiss.Base, tiss.Min, tiss.Max}, "numbers of tiss")
		check.Same(t, len(policy.BuiltIn("tiss").Rules), len(tiss.Rules), "rules of tiss")
		ours, _ := store.Current().Get("ours")
		check.Same(t, policy.BuiltIn("tiss").MaxRetries, ours.MaxRetries, "retries of a policy that extends it")
		check.Same(t, "tiss", store.Current().Extends("ours"), "what it extends")
		check.Same(t, "", store.Current().Extends("nope")+store.Current().Origin("nope"), "what is not known")
		check.Must(t, store.Reload())
	}
}

func TestNumbersThatDoNotFitAreRefusedWithTheirReason(t *testing.T) {
	_, err := policy.OpenWith(policy.Override{Base: 5 * time.Hour}, "", "nope")
	check.Fails(t, err, "max is 4h but must not be less than base, 5h", "there is no policy nope")
}

func TestAFileOfCasesNamesItsFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "the file holds no cases",
		"cases: []":                "the file holds no cases",
		"cases: [{text: TIMEOUT}]": "states none of class, rule and wait",
		"cases: [{txt: TIMEOUT, class: UNKNOWN}]": "txt",
	} {
		_, err := policy.ParseCases("cases.yaml", []byte(text))
		check.Fails(t, err, want, "cases.yaml")
	}
}

func TestACaseIsAnsweredWithClassRuleAndWait(t *testing.T) {
	cases, err := policy.ParseCases("cases.yaml", []byte("cases:\n- {text: TIMEOUT, retryCount: 1, wait: 8m-12m}\n- {text: DUPLICATE_CLAIM, class: PERMANENT}\n"))
	check.Must(t, err)
	check.Same(t, []int{2, 3}, []int{cases[0].Line, cases[1].Line}, "lines")
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	check.Same(t, policy.Answer{Class: "TRANSIENT", Rule: "transient.TIMEOUT", Wait: "8m-12m"}, cases[0].Of(policy.BuiltIn("tiss"), now), "the first")
	check.Same(t, "PERMANENT", cases[1].Of(policy.BuiltIn("tiss"), now).Class, "class of the second")
}
