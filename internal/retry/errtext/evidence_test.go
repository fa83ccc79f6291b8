package errtext_test

import (
	"math"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/retry/errtext"
)

func anyKind(errtext.Kind) bool { return true }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// words is what a text has, in words.
func words(text string) string {
	t := errtext.Read(text)
	defer t.Free()
	var all []string
	for _, e := range t.Evidence(anyKind) {
		all = append(all, e.Found)
	}
	return strings.Join(all, "; ")
}

func TestCodesAreFoundWhereTheTextNamesThem(t *testing.T) {
	t.Parallel()
	const glosa = "glosa 1308, GUIA JÁ APRESENTADA"
	for text, want := range map[string]string{
		"<ans:codigoGlosa>1308</ans:codigoGlosa>":                 glosa + ", in the insurer's answer",
		"&lt;ans:codigoGlosa&gt;1308&lt;/ans:codigoGlosa&gt;":     glosa + ", in the insurer's answer",
		"&amp;lt;codigoGlosa&amp;gt;1308":                         glosa + ", in the insurer's answer",
		"<codigoGlosa><![CDATA[1308]]></codigoGlosa>":             glosa + ", in the insurer's answer",
		"<codigoGlosa xsi:type=\"xsd:string\">1308</codigoGlosa>": glosa + ", in the insurer's answer",
		`{"codigoGlosa":"1308"}`:                                  glosa + ", in the insurer's answer",
		`{\"codigoGlosa\":1308}`:                                  glosa + ", in the insurer's answer",
		`"codigoGlosa\u003e1308"`:                                 glosa + ", in the insurer's answer",
		"CD_MOTIVO_GLOSA=1308":                                    glosa + ", in the insurer's answer",
		"2026-11-20 ERROR codigoGlosa: 1308":                      glosa + ", in the insurer's answer",
		"Motivo da glosa: 1308":                                   glosa,
		"erro TISS 1308":                                          glosa,
		"Tabela 38: 1308":                                         glosa,
		"codGlosa 1308 not checked":                               "glosa 1308, GUIA JÁ APRESENTADA",
		"<ans:codGlosaItem>1308</ans:codGlosaItem>":               "",
		"guia 1308 aguardando":                                    "",
		"Lote 1308 em aberto":                                     "",
		"ERROR 1205 (HY000)":                                      "",
		"valorGlosa: 1308.00":                                     "",
		"glosa de R$ 1308,00":                                     "",
		"HTTP 403":                                                "HTTP 403, Forbidden",
		"status_code=401 body=":                                   "HTTP 401, Unauthorized",
		`{"status":422,"path":"/"}`:                               "HTTP 422, Unprocessable Entity",
		"got 404 Not Found":                                       `HTTP 404, Not Found`,
		"<title>413 Request Entity Too Large</title>":             `HTTP 413, Request Entity Too Large; "too large" (refused)`,
		"erro 502":                           "HTTP 502, Bad Gateway; SMTP 502, Command not implemented",
		"erro 404":                           "",
		"HTTP Error 403.7":                   "HTTP 403, Forbidden",
		"lote 500 com 429 guias":             "",
		"http://10.1.2.3:8080/tiss/404/lote": "",
		"550 5.1.1 x":                        "SMTP 550, Mailbox unavailable; SMTP 5.x.x",
		"dsn=4.4.1":                          "SMTP 4.x.x",
		"host mx[4.2.1.7] x":                 "",
		"<faultcode>soap:Client</faultcode>": "SOAP fault Client",
		"[SOAP-ENV:Server] x":                "SOAP fault Server",
		"{http://schemas.xmlsoap.org/soap/envelope/}Server.userException x": "SOAP fault Server",
		"S:MustUnderstand":          "SOAP fault MustUnderstand",
		"the client and the server": "",
	} {
		if got := words(text); got != want {
			t.Errorf("%s\n has %s,\nwant %s", text, got, want)
		}
	}
}

func TestWordsAreFoundWhereverTheyEnd(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"SERVIÇO INDISPONÍVEL", "ServicoIndisponivel", "SERVICO_INDISPONIVEL", `x\nindisponivel`} {
		if got := words(text); !strings.Contains(got, `"indispon*" (away)`) {
			t.Errorf("%q has %s", text, got)
		}
	}
	for _, text := range []string{"indis\u0440onivel", "indis ponivel", "in.disponivel"} { // a Cyrillic letter, other words
		if got := words(text); got != "" {
			t.Errorf("%q has %s", text, got)
		}
	}
}

func TestAnAnswerThatSaysThatASystemIsAwayRefusesNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<codigoGlosa>5001</codigoGlosa><descricaoGlosa>Sistema fora do ar</descricaoGlosa>":                              passes,
		"<mensagemErro><codigoGlosa>5001</codigoGlosa><x>fora do ar</x></mensagemErro>":                                   refuses,
		"fora do ar. <codigoGlosa>5001</codigoGlosa>":                                                                     refuses,
		"<codigoGlosa>1001</codigoGlosa><descricaoGlosa>Corrija e tente novamente</descricaoGlosa>":                       refuses,
		"<codigoGlosa>5021</codigoGlosa><descricaoGlosa>CADEIA DE CERTIFICAÇÃO INVÁLIDA</descricaoGlosa>":                 refuses,
		"<ans:mensagemErro><ans:descricaoGlosa>Prestador bloqueado</ans:descricaoGlosa></ans:mensagemErro>":               refuses,
		"<ans:mensagemErro><ans:descricaoGlosa>Lote recusado: sistema fora do ar</ans:descricaoGlosa></ans:mensagemErro>": passes,
	} {
		if got := says(text); got != want {
			t.Errorf("%s %s, want %s", text, got, want)
		}
	}
}

// Personal data may leave the package by redaction only.
func TestWordsAreNeverAPieceOfTheText(t *testing.T) {
	t.Parallel()
	got := words("nao consta Maria Pedrosa no cadastro; servidor Zuleide Lima nao encontrado; tempo da Ana excedido")
	for _, name := range []string{"Maria", "Pedrosa", "Zuleide", "Lima", "Ana"} {
		if strings.Contains(got, name) {
			t.Errorf("%s has %s", got, name)
		}
	}
	if !strings.Contains(got, `"servidor .. nao encontrado" (connect)`) {
		t.Errorf("has %s", got)
	}
}

func TestOnlyTheBeginningIsRead(t *testing.T) {
	t.Parallel()
	if got := words(strings.Repeat(".", errtext.MaxBytes-8) + "HTTP 401"); got != "HTTP 401, Unauthorized" {
		t.Errorf("the last of it: %q", got)
	}
	if got := words(strings.Repeat(".", errtext.MaxBytes-7) + "HTTP 401"); got != "" {
		t.Errorf("behind it: %q", got)
	}
}

// What was read of a page is used again for the next one. Memory of its own for each page would be 20
// allocations or more.
func TestPagesShareTheirMemory(t *testing.T) {
	for _, piece := range []string{"A ", "timeout fora do ar ", "1308 <br> 503 "} {
		page := strings.Repeat(piece, errtext.MaxBytes/len(piece))
		least := math.Inf(1)
		for range 20 { // under the race detector a pool forgets every fourth
			least = min(least, testing.AllocsPerRun(1, func() { errtext.Read(page).Free() }))
		}
		if least > 1 {
			t.Errorf("at least %v allocations for a page of %q", least, piece)
		}
	}
}

// The tables are data: what is wrong in them must not wait for a text.
func TestTheTablesAreWhole(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tabela-38", "http", "smtp", "exceptions", "terms", "nouns", "marks"} {
		table := errtext.TableOf(name)
		seen := map[string]bool{}
		for i := range table.Rows {
			r := &table.Rows[i]
			key := r.Code + " " + r.Term + " " + r.Sign
			if seen[key] {
				t.Errorf("%s: %s stands there twice", table.Name, key)
			}
			seen[key] = true
			if r.Term == "" || r.Class != "" && r.Class != "PERMANENT" && r.Class != "TRANSIENT" {
				t.Errorf("%s: row %d, %s, lacks its term, or has an odd class", table.Name, i+2, key)
			}
			if r.Code != "" && strings.Trim(r.Code, "0123456789") != "" {
				t.Errorf("%s: the code %s is no number", table.Name, r.Code)
			}
		}
		if len(table.Rows) == 0 {
			t.Errorf("%s is empty", table.Name)
		}
	}
}

// Each row of the terms is found in the text that is its own phrase, with stems in a longer word.
func TestEveryTermIsFoundInItself(t *testing.T) {
	t.Parallel()
	for _, name := range []string{errtext.TableTerms, errtext.TableExceptions} {
		for _, r := range errtext.TableOf(name).Rows {
			text := strings.NewReplacer("*", "qq", " .. ", " x y ", "#", "7").Replace(r.Term)
			x := errtext.Read(text)
			found := false
			for i := range x.Pieces {
				row := x.Pieces[i].Row()
				found = found || row != nil && row.Term == r.Term
			}
			if x.Free(); !found && r.Sign != "correct" {
				t.Errorf("%s: %q is not found in %q: %s", name, r.Term, text, words(text))
			}
		}
	}
}
