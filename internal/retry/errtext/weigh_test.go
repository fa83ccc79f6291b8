package errtext_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/retry/errtext"
)

// What an error text says, as far as this package can tell it.
const (
	passes  = "passes"
	refuses = "refuses"
	nothing = "says nothing"
)

// says reads a text: it refuses if a refusal counts, because none does beside what weighs as much and passes.
func says(text string) string {
	t := errtext.Read(text)
	defer t.Free()
	said := nothing
	for i := range t.Pieces {
		switch p := &t.Pieces[i]; {
		case !p.Counts:
		case p.Row().Class == "PERMANENT":
			return refuses
		case p.Row().Class == "TRANSIENT":
			said = passes
		}
	}
	return said
}

// Each rule of the reading with the texts that need it.
func TestWhatATextSaysDependsOnWhatItsWordsAreSaidOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule  string
		texts map[string]string
	}{
		{"a passing word counts for a system, and not for what a claim is about", map[string]string{
			"Sistema autorizador indisponível":                            passes,
			"Cartão do beneficiário indisponível para uso: via cancelada": refuses,
			"Procedimento indisponível na tabela do prestador":            nothing,
		}},
		{"a system goes before what is joined to it by de", map[string]string{
			"Serviço de verificação de GUIA DUPLICADA fora do ar": passes,
			"Guia duplicada": refuses,
		}},
		{"a service is no system where a plan follows", map[string]string{
			"1407 - Serviço indisponível neste plano: serviço solicitado não possui cobertura": refuses,
			"Serviço indisponível": passes,
		}},
		{"the longest noun counts: an insurer's network of providers is no network", map[string]string{
			"Rede indisponível, guia recusada":             passes,
			"Rede credenciada indisponível, guia recusada": refuses,
		}},
		{"where a clause names nothing, the one before it says of what", map[string]string{
			"O sistema caiu, está fora do ar":              passes,
			"A carteira foi cancelada, está indisponível.": refuses,
		}},
		{"what no table knows may be a system: a doubt is retried", map[string]string{
			"Guia recusada: XYZ-7 indisponível": passes,
		}},
		{"that a program failed says little", map[string]string{
			"soap:Server: guia recusada":      refuses,
			"HTTP 520: beneficiário inválido": refuses,
			"API de cadastro retornou 500":    passes,
			"HTTP 503: beneficiário inválido": passes,
			"soap:Server":                     passes,
		}},
		{"reaching people says little", map[string]string{
			"Guia glosada. Nossos telefones estão temporariamente indisponíveis": refuses,
		}},
		{"a refusal that is complete beats what passes in another sentence", map[string]string{
			"1014 - BENEFICIÁRIO COM DATA DE EXCLUSÃO. Portal instável hoje.":                      refuses,
			"Portal instável hoje. Beneficiário falecido em 03/2025.":                              refuses,
			"Beneficiário não localizado. Serviço de cadastro fora do ar.":                         passes,
			"cvc-complex-type.2.4.a: Invalid content was found starting with element 'ans:numero'": refuses,
		}},
		{"but not one whose reason is a system that is away", map[string]string{
			"Carteira vencida, pois o cadastro está fora do ar":                                               passes,
			"Carteirinha inválida, pois o serviço de cartões está fora":                                       passes,
			"Beneficiário inexistente; carga de cadastro ainda não terminou":                                  passes,
			"<mensagemErro><descricaoGlosa>Lote recusado: sistema fora do ar</descricaoGlosa></mensagemErro>": passes,
		}},
		{"nor one that stands behind a failure to reach anybody: it is what was sent", map[string]string{
			"java.net.SocketException: Broken pipe\npayload=<obs>carteira vencida</obs>": passes,
			"Recurso da glosa 1705 não foi entregue: connection refused":                 passes,
		}},
		{"nor one that is answered to all", map[string]string{
			"Carência indisponível, sistema de contratos fora":                                 passes,
			"Cartão bloqueado é a mensagem padrão exibida quando o host não responde":          passes,
			"Login bloqueado para todos os prestadores enquanto os servidores são reiniciados": passes,
		}},
		{"a status counts where a status stands", map[string]string{
			"HTTP 503":                            passes,
			"guia 503 não cadastrada":             refuses,
			"Valor R$ 503,00 acima do contratado": refuses,
			"status 503, guia não cadastrada":     passes,
		}},
		{"a setting and a line of a stack trace say nothing", map[string]string{
			`{"error":"guia recusada","timeoutMs":30000}`:                                   refuses,
			"Guia duplicada\n  at x.TimeoutInterceptor.handle(TimeoutInterceptor.java:503)": refuses,
			"Guia recusada (timeout 60000 ms)":                                              refuses,
		}},
		{"what is denied, conditional, announced, a habit or over does not count against a refusal", map[string]string{
			"Sem timeout: guia recusada":                                            refuses,
			"Guia recusada. Este bloqueio não decorre de manutenção":                refuses,
			"Autorização negada. Em caso de instabilidade no portal, ligue 0800":    refuses,
			"Autorização negada. No próximo domingo o portal estará em manutenção":  refuses,
			"Autorização negada. O portal fica em manutenção aos domingos":          refuses,
			"Sistema normalizado. Guia rejeitada: beneficiário sem cadastro":        refuses,
			"1023 - NOME DO TITULAR INVÁLIDO, reprocessado após a queda do sistema": refuses,
			"Autorização recusada durante a indisponibilidade do sistema":           passes,
		}},
		{"a refusal that is asked is none", map[string]string{
			"Login inválido? Nosso diretório está em manutenção": passes,
		}},
		{"advice alone is weak, and a vague word counts with a system", map[string]string{
			"Guia recusada por duplicidade, corrija e tente novamente": refuses,
			"Guia recusada, tente mais tarde":                          passes,
			"FALHA GERAL":                                              nothing,
			"Erro inesperado no servidor da operadora":                 passes,
		}},
		{"a word of a longer phrase that passes refuses nothing", map[string]string{
			"Tempo limite excedido": passes,
			"Transação cancelada":   passes,
		}},
	} {
		for text, want := range tt.texts {
			if got := says(text); got != want {
				t.Errorf("%s: %q %s, want %s: %+v", tt.rule, text, got, want, evidence(text))
			}
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
	want := []errtext.Evidence{
		{Found: `"indispon*" (away)`, SaidOf: "cartao", PassedOver: "said of no system"},
		{Found: `"cancelad*" (fact)`},
	}
	got := evidence("Cartão indisponível para uso: via cancelada")
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func evidence(text string) []errtext.Evidence {
	t := errtext.Read(text)
	defer t.Free()
	return t.Evidence(anyKind)
}

// Insurers and old systems spoil letters in every way there is.
func TestATextIsReadAsAPersonWould(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain text?":                    "plain text?",
		"servi&ccedil;o &lt;x&gt; &#49;": "serviço <x> 1",
		"&amp;lt;erro&amp;gt;":           "<erro>",
		`servi\u00e7o\n\"x\"`:            "serviço\n\"x\"",
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
