package errtext_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/retry/errtext"
)

// FuzzRead holds of every text: its words are in their order and apart, its pieces stand in it, and what is
// said of them is of a table.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"", "HTTP 503", "<ans:mensagemErro><codigoGlosa>1308</codigoGlosa>", "&amp;&#49;&#x;&xacute;&", `\u00e7\u00\n\`, "\xff\xc3\x28 Ã§ １", "550-5.1.1",
		"tempo da da da da excedido", "[SOAP-ENV:Client]", "S:VersionMismatch", "mensagemErro mensagemErro/", "3091 PERÍODO DE 1", "a\u200bb\u0301c", `C:\rate_limit \u0074imeout`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x := errtext.Read(text)
		defer x.Free()
		end := 0
		for _, token := range x.Tokens {
			if int(token.Start) < end || int(token.End) <= int(token.Start) || int(token.End) > len(x.Source) {
				t.Fatalf("%q: a word from %d to %d behind %d", text, int(token.Start), int(token.End), end)
			}
			end = int(token.End)
		}
		for i := range x.Pieces {
			p := &x.Pieces[i]
			if p.Start < 0 || p.Start >= p.End || int(p.End) > len(x.Source) {
				t.Fatalf("%q: %+v", text, *p)
			}
		}
		for _, e := range x.Evidence(anyKind, true) {
			if strings.ContainsAny(e.Found+e.SaidOf, "\n\x00\x1b") {
				t.Fatalf("%q has %+v", text, e)
			}
		}
		if again := errtext.Normalise(x.Source); again != x.Source {
			t.Fatalf("%q becomes %q, then %q", text, x.Source, again)
		}
	})
}
