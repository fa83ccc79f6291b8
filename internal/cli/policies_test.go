package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/policytest"
)

// The trail keeps of a text only what is known to be no personal data, so a word of the hospital's own may be gone.
func TestTryComparesRealRecordsAndCountsThoseThatAreMasked(t *testing.T) {
	const inForce = "policies: [{name: unimed, extends: tiss, rules: [{id: unimed.own, class: PERMANENT, contains: [ZYXWV]}]}]\n"
	set := policytest.Set(t, inForce)
	a := archived(t, nil)
	store := a.open(t)
	w := a.worker(store, "unimed", set)
	for claim, text := range map[string]string{"1": "TIMEOUT ao enviar a guia de João", "2": "lote zyxwv", "3": "DUPLICATE_CLAIM"} {
		w.ask(t, w.decide, `{"claimId":"CLM-real-`+claim+`","submissionError":"`+text+`"}`)
	}
	w.ask(t, w.outcome, `{"claimId":"CLM-real-1","outcome":"SUBMITTED"}`)
	closed(t, store)
	dir := t.TempDir()
	known, tried := filepath.Join(dir, "known.yaml"), filepath.Join(dir, "tried.yaml")
	check.Must(t, os.WriteFile(known, []byte(inForce), 0o600))
	check.Must(t, os.WriteFile(tried, []byte("policies: [{name: unimed, extends: tiss, rules: [{id: all, class: PERMANENT, contains: [TIMEOUT]}]}]\n"), 0o600))
	a.settings = append(a.settings, "RETRY_POLICIES_FILE="+known)
	var got struct {
		Errors, Masked int
		Changes        []struct {
			From, To                 struct{ RuleID string }
			Errors, Claims, Accepted int
		}
	}
	a.decodes(t, 0, &got, "policies", "try", tried)
	check.Same(t, [3]int{2, 1, 1}, [3]int{got.Errors, got.Masked, len(got.Changes)}, "errors, masked ones, changes")
	c := got.Changes[0]
	check.Same(t, "transient.TIMEOUT all", c.From.RuleID+" "+c.To.RuleID, "rules")
	check.Same(t, [3]int{1, 1, 1}, [3]int{c.Errors, c.Claims, c.Accepted}, "errors, claims and accepted ones")
}
