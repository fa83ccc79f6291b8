package errtext_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/retry/errtext"
)

// found is what a condition finds in a text, "-" where it does not hold.
func found(t *testing.T, c errtext.Condition, text string) string {
	t.Helper()
	m := errtext.Compile(c, func(setting, problem string) { t.Fatalf("%+v: %s %s", c, setting, problem) })
	x := errtext.Read(text)
	defer x.Free()
	f, holds := m.Match(x)
	if !holds {
		return "-"
	}
	return f.Code
}

func TestAConditionHoldsWhereItsEvidenceStands(t *testing.T) {
	t.Parallel()
	glosa := func(change func(*errtext.GlosaCondition)) errtext.Condition {
		g := errtext.GlosaCondition{Table: errtext.TableGlosas}
		change(&g)
		return errtext.Condition{Glosa: &g}
	}
	terms := func(in string, signs ...string) errtext.Condition {
		return errtext.Condition{Terms: &errtext.TermsCondition{Table: errtext.TableTerms, Sign: signs, In: in}}
	}
	const answer = "<codigoGlosa>1001</codigoGlosa><descricaoGlosa>Lote recusado</descricaoGlosa>"
	for _, tt := range []struct {
		name      string
		condition errtext.Condition
		texts     map[string]string
	}{
		{"a glosa of the table", glosa(func(*errtext.GlosaCondition) {}), map[string]string{answer: "1001", "glosa 1412": "1412", "glosa 9999": "-", "1001": "-"}},
		{"of a class", glosa(func(g *errtext.GlosaCondition) { g.Class = "TRANSIENT" }), map[string]string{answer: "-", "glosa 1412": "1412"}},
		{"of some codes", glosa(func(g *errtext.GlosaCondition) { g.Only = []string{"1308"} }), map[string]string{answer: "-", "glosa 1308": "1308"}},
		{"of all but some", glosa(func(g *errtext.GlosaCondition) { g.Except = []string{"1001"} }), map[string]string{answer: "-", "glosa 1308": "1308"}},
		{"in an answer", glosa(func(g *errtext.GlosaCondition) { g.In = errtext.InAnswer }), map[string]string{
			answer: "1001", "glosa 1001": "-", "<codigoGlosa>1001</codigoGlosa><descricaoGlosa>Sistema fora do ar</descricaoGlosa>": "-",
		}},
		{"a status", errtext.Condition{HTTP: []string{"401", "403"}}, map[string]string{"HTTP 403": "403", "HTTP 404": "-"}},
		{"a class of them", errtext.Condition{HTTP: []string{"5xx"}}, map[string]string{"HTTP 503": "503", "HTTP 404": "-"}},
		{"a reply", errtext.Condition{SMTP: []string{"550"}}, map[string]string{"550 5.1.1 x": "550", "HTTP 550": "-"}},
		{"an enhanced code", errtext.Condition{SMTP: []string{"4.x.x"}}, map[string]string{"dsn=4.4.1": "4.x.x", "dsn=5.4.1": "-"}},
		{"a reply or an enhanced code", errtext.Condition{SMTP: []string{"421", "4.x.x"}}, map[string]string{"421 x": "421", "dsn=4.4.1": "4.x.x"}},
		{"a fault code", errtext.Condition{SOAPFault: []string{"Client", "Sender"}}, map[string]string{"soap:CLIENT": "Client", "soap:Server": "-"}},
		{"a term", terms("", "away", "timeout"), map[string]string{"O ambiente está fora do ar": "fora do ar", "tempo foi mesmo excedido": "tempo .. excedido", "negado": "-"}},
		{"a term in an answer", terms(errtext.InAnswer, "unsaid"), map[string]string{answer: "recusad*", "Lote recusado": "-"}},
		{"a word anywhere", errtext.Condition{Contains: []string{"rate_limit", "503"}}, map[string]string{
			"xRATE_LIMITx": "RATE_LIMIT", `C:\rate_limit`: "RATE_LIMIT", "a&lt;503": "503", "Rate_Limit": "RATE_LIMIT", "guia 150399": "503", "rate limit": "-", "": "-",
		}},
		{"words of all alphabets", errtext.Condition{Contains: []string{"não", "σφάλμα", "ab"}}, map[string]string{"NÃO": "NÃO", "Σφάλμα": "ΣΦΆΛΜΑ", "xABx": "AB", "nao": "-"}},
		{"letters that only have upper case in common", errtext.Condition{Contains: []string{"TIMEOUT", "BUSY"}}, map[string]string{"tımeout": "TIMEOUT", "buſy": "BUSY"}},
		{"all parts, and any of a list", errtext.Condition{HTTP: []string{"502", "504"}, Contains: []string{"GATEWAY", "PROXY"}}, map[string]string{
			"HTTP 502 gateway": "502", "HTTP 502": "-", "HTTP 503 gateway": "-", "HTTP 504 proxy": "504",
		}},
		{"unless another holds", errtext.Condition{Contains: []string{"A"}, Unless: &errtext.Condition{HTTP: []string{"503"}}}, map[string]string{"a": "A", "a HTTP 503": "-"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for text, want := range tt.texts {
				if got := found(t, tt.condition, text); got != want {
					t.Errorf("%q: %s, want %s", text, got, want)
				}
			}
		})
	}
}
