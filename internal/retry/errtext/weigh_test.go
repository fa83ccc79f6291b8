package errtext_test

import (
	"slices"
	"testing"

	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/testing/check"
)

// says is what an error text says, as far as this package can tell it: it refuses if a refusal counts, because
// none does beside what weighs as much and passes.
func says(text string) string {
	t := errtext.Read(text)
	defer t.Free()
	said := "says nothing"
	for i := range t.Pieces {
		switch p := &t.Pieces[i]; {
		case !p.Counts:
		case p.Row().Class == "PERMANENT":
			return "refuses"
		case p.Row().Class == "TRANSIENT":
			said = "passes"
		}
	}
	return said
}

func TestATextSaysWhatIsWrittenDown(t *testing.T) {
	t.Parallel()
	for _, row := range check.Rows(t, "testdata/says.tsv", 2) {
		if got := says(row[1]); got != row[0] {
			t.Errorf("%q %s, want %s: %+v", row[1], got, row[0], evidence(row[1]))
		}
	}
}

// The hospital's own faults have a sign of their own, so that a rule can name who must act.
func TestTheHospitalsOwnFaultIsFoundByItsSubject(t *testing.T) {
	t.Parallel()
	ownFault := errtext.Condition{Terms: &errtext.TermsCondition{Table: errtext.TableTerms, Sign: []string{"own", "setup"}}}
	for text, is := range map[string]bool{
		"Certificado do prestador expirado":                                              true,
		"javax.net.ssl.SSLHandshakeException: Received fatal alert: certificate_expired": true,
		"Usuário ou senha inválidos":                                                     true,
		"A versão do schema TISS enviada (3.02.00) está descontinuada":                   true,
		"O login do prestador está bloqueado":                                            true,
		"A licença do integrador, como avisado em maio, não foi renovada":                true,
		"Proxy exige login: usuario invalido":                                            true,
		"Chave de API sem uso. Gere outra e tente novamente":                             true,
		"Portal indisponível desde ontem. Gere outra chave de API":                       true,
		"Conexão recusada: certificado de cliente ausente":                               true,
		"A operadora não consta na tabela de “URLs”":                                     true,
		"Conexão recusada: login ausente":                                                false,
		"Sem conexão: verifique o proxy do hospital":                                     false,
		"Sistema indisponível. Chave de API sem uso":                                     false,
		"Guia não enviada pelo usuário":                                                  false,
		"Padrão TISS 04.01.00, lote não transmitido":                                     false,
		"Carteira do usuário cancelada":                                                  false,
		"Certificado da operadora vencido":                                               false,
		"Senha de autorização inválida: guia recusada":                                   false,
		"Login bloqueado: diretório de usuários em manutenção":                           false,
	} {
		if got := found(t, ownFault, text) != "-"; got != is {
			t.Errorf("%q: own fault %v, want %v: %+v", text, got, is, evidence(text))
		}
	}
}

// What explain shows: the evidence, of what it is said, and why it was passed over.
func TestEvidenceSaysOfWhatAndWhyItWasPassedOver(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]errtext.Evidence{
		"Cartão indisponível para uso: via cancelada": {
			{Found: `"indispon*" (away)`, SaidOf: "cartao", PassedOver: "said of no system"},
			{Found: `"cancelad*" (fact)`, SaidOf: "cartao"},
		},
		"1023 - NOME DO TITULAR INVALIDO, reprocessado após a queda do sistema": {
			{Found: "glosa 1023, NOME DO TITULAR INVÁLIDO"},
			{Found: `"queda do sistem*" (away)`, SaidOf: "sistema", PassedOver: "of an earlier try"},
		},
	} {
		if got := evidence(text); !slices.Equal(got, want) {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

func evidence(text string) []errtext.Evidence {
	t := errtext.Read(text)
	defer t.Free()
	return t.Evidence(anyKind, true)
}

// Insurers and old systems spoil letters in every way there is.
func TestATextIsReadAsAPersonWould(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain text?":                    "plain text?",
		"servi&ccedil;o &lt;x&gt; &#49;": "serviço <x> 1",
		"&amp;lt;erro&amp;gt;":           "<erro>",
		`servi\u00e7o\n\"x\"`:            "serviço\n\"x\"",
		`x\n\t\\tat a.b.C`:               "x\nat a.b.C",
		`C:\temp`:                        `C:\temp`,
		"servi\xe7o":                     "serviço",
		"serviÃ§o":                       "serviço",
		"servic\u0327o":                  "serviço",
		"ｓｅｒｖｉｃｏ":                        "servico",
		"ser\u200bvi\u00adço\x00":        "serviço",
		"N\uFFFDO POSSUI":                "NAO POSSUI",
		"BENEFICI?RIO N?O ENCONTRADO":    "BENEFICIARIO NAO ENCONTRADO",
		"autoriza??o":                    "autorizacao",
		"beneficiario?nome=x":            "beneficiario?nome=x",
		"Guia n?o localizada?":           "Guia nao localizada?",
		"Xq?zt":                          "Xq?zt",
	} {
		if got := errtext.Normalise(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
