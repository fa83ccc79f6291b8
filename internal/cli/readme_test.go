package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/policy"
)

// demoClaim plays a claim of the demo under policy tiss, at the times of one run of it.
func demoClaim(t *testing.T) *archive {
	t.Helper()
	return playedUnder(t, policy.BuiltIns(), "tiss", func(w *ward) {
		for i, failure := range []struct{ at, text string }{
			{"2026-11-21T16:46:53.168Z", "TIMEOUT: a operadora não respondeu ao tissLoteGuias em 30 s"},
			{"2026-11-21T16:46:55.406Z", "TIMEOUT: a operadora não respondeu ao tissLoteGuias em 30 s"},
			{"2026-11-21T16:46:56.161Z", "CONNECTION_ERROR: conexão recusada por ws.operadora.example:443"},
			{"2026-11-21T16:46:57.819Z", "Falha no envio: resposta em HTML em vez de XML"},
			{"2026-11-21T16:46:59.225Z", "SERVER_ERROR: exceção não tratada no servidor da operadora"},
			{"2026-11-21T16:47:00.100Z", "INSURANCE_EXPIRED: glosa 1017"},
		} {
			w.now = moment(failure.at)
			w.ask(t, w.decide, 2251799813685549, fmt.Sprintf(`{"claimId":"CLM-2026-004215","submissionError":%q,"retryCount":%d}`, failure.text, i))
		}
		w.now = moment("2026-11-21T16:47:00.215Z")
		w.ask(t, w.outcome, 2251799813685541, `{"claimId":"CLM-2026-004215","outcome":"ABANDONED","justification":"Plano vencido; cobrar particular"}`)
	})
}

func TestReadmeShowsARealHistory(t *testing.T) {
	readme := read(t, "../../docs/audit.md")
	_, shown, _ := strings.Cut(readme, "$ bin/worker history CLM-2026-004215\n")
	shown, _, found := strings.Cut(shown, "...\n$ ")
	rest := demoClaim(t).must(t, "history", "CLM-2026-004215")
	if parts := strings.Split(shown, "...\n"); !found || len(parts) != 3 {
		t.Fatalf("docs/audit.md shows %d parts of a history", len(parts))
	}
	for part := range strings.SplitSeq(shown, "...\n") {
		before, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("docs/audit.md shows what is not there, or not in this order:\n%s\nof\n%s", part, before)
		}
		rest = after
	}
}
