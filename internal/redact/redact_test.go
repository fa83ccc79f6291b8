package redact_test

import (
	"os"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

// What becomes of personal data, by kind and spelling. CPF 123.456.789-09 is the usual specimen; all others are made up too.
func TestPersonalDataBecomesAMark(t *testing.T) {
	t.Parallel()
	becomes(t, []mask{
		{"CPF", "CPF 123.456.789-09 inválido", "CPF [número longo] inválido"},
		{"CPF bare", "recusado 12345678909 hoje", "recusado [número longo] hoje"},
		{"CPF with all its digits apart", "1 2 3 4 5 6 7 8 9 0 9", "[número longo]"},
		{"CPF over lines", "cpf 123\n456\n789-09", "cpf [número]\n[número]\n[número]"},
		{"CPF in JSON", `{"cpf":"12345678909"}`, `{"cpf":"[número longo]"}`},
		{"CPF glued to its field", "CPF12345678909", "[código]"},
		{
			"name and CPF in the term of a glosa", "DOCUMENTAÇÃO INCOMPLETA 12345678909 JOAO INCORRETA OU AUSENTE",
			"DOCUMENTAÇÃO INCOMPLETA [número longo] [palavra] INCORRETA OU AUSENTE",
		},
		{"name with a letter lost", "paciente MAR?A internada", "paciente [palavra]?A internada"},
		{"CPF behind a host", "ans.cpf:123.456.789-09", "ans.cpf:[número longo]"},
		{
			"CPF in SQL", "INSERT INTO beneficiario (cpf, nome) VALUES ('12345678909', 'MARIA DA SILVA')",
			"INSERT INTO beneficiario (cpf, nome) VALUES ('[número longo]', '[palavra] DA [palavra]')",
		},
		{
			"CPF in a URL", "https://portal.operadora.example/beneficiario/12345678909?nome=Maria",
			"https://portal.operadora.example/beneficiario/[número longo]?nome=[palavra]",
		},
		{"CPF percent-escaped", "cpf%3D123%2E456%2E789%2D09", "cpf%[código]%[código]%[código]%[código]"},
		{"CPF as entities", "&#49;&#50;&#51;.456.789-&#x30;9", "[número longo]"},
		{"CPF full width", "CPF １２３．４５６．７８９－０９", "CPF [número longo]"},
		{"CPF in Arabic digits", "CPF ١٢٣٤٥٦٧٨٩٠٩", "CPF [palavra]"},
		{"CPF in raised digits as entities", "CPF &#185;&#178;&#179; inválido", "CPF  inválido"},
		{"CPF in raised digits as JSON escapes", `CPF \u00b9\u00b2\u00b3 inválido`, "CPF  inválido"},
		{"CPF with characters nobody sees", "CPF 1\u200b23\u00ad456\u206078909", "CPF [número longo]"},
		{"CPF with a typographic dash", "123.456.789\u201309", "[número longo]"},
		{"CPF with a letter for a digit", "CPF 123.456.789-O9", "CPF [código]"},
		{"CPF in base64", "payload: Y3BmPTcxMzAxMzkxMDI2", "payload: [código]"},
		{"CPF in hexadecimal", "0x2df4b1c3d", "[código]"},
		{"CPF in words", "quatro sete um dois nove oito", "quatro [palavra] um [palavras]"},
		{"CNPJ with letters", "12.ABC.345/01DE-35", "[código]"},
		{"medical record", "prontuário 88123", "prontuário [número]"},
		{"UUID", "5f0c1c7e-9d0a-4f5e-8a51-0b6a3f1f8f10", "[código]"},
		{"password", "senha=Xy7kk", "senha=[código]"},

		{"e-mail", "de maria.silva@hospital.example: x", "de [palavras]@hospital.example: x"},
		{"e-mail percent-escaped", "?to=maria%40uol.com.br", "?to=[palavra]%[código].com.br"},
		{"e-mail in quotes", `de "maria silva"@hospital.example`, `de "[palavras]"@hospital.example`},
		{"telephone with its country", "+55 11 98765-4321", "+[número longo]"},

		{"birth date", "nascimento 31/01/1980", "nascimento [data]"},
		{"birth date, year first", `"dataNascimento":"1980-01-31"`, `"dataNascimento":"[data]"`},
		{"birth date, short", "DN: 1.2.80", "[palavra]: [data]"},
		{"birth date in digits", "nascimento=31011980", "nascimento=[número longo]"},
		{"birth date in words", "nascido em 1º de março de 1980", "nascido em [número]º de [palavra] de [número]"},
		{"date and time", "em 21/11/2024 10:30:15 falhou", "em [data] falhou"},
		{"no date: address of a machine", "10.0.15.3", "[número]"},
		{"diagnosis", "CID F20.0 esquizofrenia paranoide", "CID [código] [palavras]"},

		{"name", "Paciente: Maria da Silva não encontrada", "Paciente: [palavra] da [palavra] não encontrada"},
		{"name in small letters", "paciente maria da silva não encontrada", "paciente [palavra] da [palavra] não encontrada"},
		{"surname first", "SILVA, MARIA", "[palavra], [palavra]"},
		{"name with a blank that breaks no line", "Paciente: João\u00a0Dias", "Paciente: [palavras]"},
		{"name in JSON", `{"nomeMae":"Ângela D'Ávila"}`, `{"nomeMae":"[palavras]"}`},
		{"name in XML", "<ans:nomeBeneficiario>MARIA SÁ</ans:nomeBeneficiario>", "<ans:nomeBeneficiario>[palavras]</ans:nomeBeneficiario>"},
		{"name in escaped XML", "&lt;nome&gt;Jos&eacute; S&aacute;&lt;/nome&gt;", "<nome>[palavras]</nome>"},
		{"name in a URL", "?nome=Maria+Silva&uf=SP", "?nome=[palavra]+[palavra]&uf=SP"},
		{"name in camel case", "pacienteMariaSilva", "[palavra]"},
		{"name in a file's name", "guia_maria_silva.xml", "guia_[palavra]_[palavra].xml"},
		{"name in a class's name", "br.com.hospital.MariaSilvaException", "br.com.hospital.[palavra]"},
		{"name letter by letter", "Nome: J O S E", "Nome: [palavras]"},
		{"name with combining accents", "paciente Joa\u0303o Sa\u0301", "paciente [palavras]"},
		{"name in Latin-1", "benefici\xe1rio: CONCEI\xc7\xc3O S\xc1", "beneficiário: [palavras]"},
		{"name with Cyrillic letters", "nome М\u0430ri\u0430", "nome [palavra]"},
		{"symbol between words", "TIMEOUT\u2713erro\u2713\u2713 guia 1234\u22128823", "TIMEOUT erro  guia [número] [número]"},
		{"name in circled letters", "nome Ⓜⓐⓡⓘⓐ inválido", "nome  inválido"},
		{"name with characters nobody sees", "nome Ma\u200bri\u00ada", "nome [palavra]"},
		{"name in base64", "TWFyaWEgZGEgU2lsdmE", "[código]"},
	})
}

// Words of the vocabulary that people are called, too.
func TestNamesThatAreWordsGoWithWhatStandsAroundThem(t *testing.T) {
	t.Parallel()
	becomes(t, []mask{
		{"between unknown words", "Paciente: João Alta da Silva", "Paciente: [palavras] da [palavra]"},
		{"behind an unknown word", "Aurora Dias", "[palavras]"},
		{"before an unknown word", "Campos Filho Xavier", "[palavras]"},
		{"behind a particle", "Rita de Campos", "[palavra] de [palavra]"},
		{"two with capitals", "recusado por Nova Porta Dias", "recusado por [palavras]"},
		{"behind an unknown word and a character of no width", "Silvana,\u200b Campos", "[palavra], [palavra]"},
		{"in a name's field, behind one as an escape", `nome=\u200bDias`, "nome=[palavra]"},
		{"behind a word for a person", "paciente dias campos", "paciente [palavras]"},
		{"in a name's field", `"nomeBeneficiario":"DIAS"`, `"nomeBeneficiario":"[palavra]"`},
		{"in an element whose name goes on", "<nomeCompleto>Campos</nomeCompleto>", "<nomeCompleto>[palavra]</nomeCompleto>"},
		{"behind a word in brackets", "Beneficiário(a): Campos", "Beneficiário(a): [palavra]"},
		{"behind a short word", "o nome do titular é Campos", "o nome do titular é [palavra]"},
		{"behind another name", "Paciente: Dia Campos", "Paciente: Dia [palavra]"},
		{"no name after a number", "paciente internado há 5 dias", "paciente internado há [número] dias"},
		{"joined", "CamposDias", "[palavra]"},
		{"nobody around", "prazo vencido há dias, campos obrigatórios em branco", "prazo vencido há dias, campos obrigatórios em branco"},
	})
}

// Evidence, technical words and the words of messages.
func TestWhatIsKnownStays(t *testing.T) {
	t.Parallel()
	for _, stays := range []string{
		"TIMEOUT - connection to insurer timed out after 30 s, status=503",
		"tempo excedido: 30 segundos", "retry after 30 seconds",
		"HTTP 503 Service Unavailable", "HTTP/1.1 503 Service Unavailable", "HTTP 429 Too Many Requests (retry after 30 s)",
		"HTTP 503 em ws.operadora.example",
		"glosa 1011: identificação do beneficiário inconsistente",
		"<codigoGlosa>1011</codigoGlosa><descricaoGlosa>IDENTIFICAÇÃO DO BENEFICIÁRIO NÃO CONSISTENTE</descricaoGlosa>",
		"<soap:Fault><faultcode>soap:Client</faultcode><faultstring>Sistema em manutenção</faultstring></soap:Fault>",
		"rpc error: code = Unavailable desc = connection error",
		"x509: certificate signed by unknown authority",
		"invalid UTF8 in base64",
		"Beneficiário não encontrado no cadastro da operadora",
		`{"erro":"Timeout ao consultar o autorizador"}`,
		"o prestador e a operadora", "E A OPERADORA",
		"erro na linha\r\n\tdo arquivo", "“erro” – sistema… § n\u00ba",
		"seguradora voltou", "convênio corrigiu o cadastro, reenvio combinado com a operadora ontem à tarde",
		"a cooperativa desbloqueou o plano; o gerente do setor de faturamento pediu urgência",
		"Hapvida reativou o convênio, reenviamos o lote", "login desbloqueado, refizemos a guia no plantão",
		"registration fixed and reactivated, claim reprocessed over the holidays",
		"insurer's portal is back since this morning, agreed with the manager by phone",
		"[palavra] [palavras] [número] [número longo] [data] [código]",
		"",
	} {
		t.Run(stays, func(t *testing.T) {
			t.Parallel()
			if got := redact.Text(stays); got != stays {
				t.Errorf("%q becomes %q", stays, got)
			}
		})
	}
}

// The number is evidence for a word that is masked. The second run would not know the word.
func TestNumberGoesWithTheWordThatMadeItEvidence(t *testing.T) {
	t.Parallel()
	becomes(t, []mask{
		{"a glosa before a word of its term", "1011 identificação beneficixx", "[número] identificação [palavra]"},
		{"a port", "dial tcp ws.unimet.example:443", "dial tcp ws.[palavra].example:[número]"},
	})
}

const maxStored = 8 << 10

// What is stored is bounded, and ends with a whole word or mark. Nothing stays of a name that the end cuts.
func TestTextIsBoundedByWholeWordsAndMarks(t *testing.T) {
	t.Parallel()
	const piece = "sistema "
	for _, tt := range []struct{ name, tail, leak string }{
		{"a name that is a word", "Dias Xavier", "Dias"},
		{"a name before a particle", "Campos de Xavier", "Campos"},
		{"a name behind its field", "paciente dias campos", "dias"},
		{"letters", "J O S E", "J O"},
		{"a number that begins like a status", "HTTP 503.456.789-09", "503"},
		{"a code", "HTTP 503ABC", "503"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for size := maxStored - len(tt.tail) - 8; size < maxStored+4; size++ {
				head := strings.Repeat(piece, size/len(piece)) + strings.Repeat(" ", size%len(piece))
				got := redact.Text(head + tt.tail + strings.Repeat(" "+piece, 500))
				broken := strings.Count(got, "[") != strings.Count(got, "]")
				if len(got) > maxStored || strings.Contains(got, tt.leak) || broken {
					t.Fatalf("behind %d bytes: %d bytes, ...%q", size, len(got), got[max(0, len(got)-200):])
				}
				sound(t, got)
			}
		})
	}
}

func TestMarksMakeNoTextTooLong(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"a1;", "Xavier; ", "①", "\xc3"} {
		got := redact.Text(strings.Repeat(piece, 100<<10/len(piece)))
		if len(got) > maxStored || strings.Contains(got, "X") {
			t.Errorf("%q: %d bytes, ...%q", piece, len(got), got[max(0, len(got)-40):])
		}
	}
}

// The marks are stored in Portuguese, and are read in the language of the reader.
func TestMarksAreShownInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	const stored = "[palavra] [palavras] [número] [número longo] [data] [código] sistema"
	check.Same(t, stored, text.In(text.Portuguese).Redacted(stored), "Portuguese")
	english := text.In(text.English).Redacted(stored)
	check.Same(t, "[word] [words] [number] [long number] [date] [code] sistema", english, "English")
	check.Same(t, english, redact.Text(english), "an English one that somebody gives as a reason")
}

// docs/pt-BR/auditoria.md shows the marks, and an example of them.
func TestExampleInTheDocumentationHolds(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/pt-BR/auditoria.md")
	check.Must(t, err)
	const example = "Paciente: João Alta da Silva, CPF 123.456.789-09, glosa 1011"
	for _, shown := range []string{example, redact.Text(example), "[palavra]", "[palavras]", "[número]", "[número longo]", "[data]", "[código]"} {
		check.Contains(t, string(page), "`"+shown+"`")
	}
}

type mask struct{ name, text, want string }

func becomes(t *testing.T, masks []mask) {
	t.Helper()
	for _, tt := range masks {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := redact.Text(tt.text); got != tt.want {
				t.Errorf("%q\n becomes %q,\n    want %q", tt.text, got, tt.want)
			}
			sound(t, tt.text)
		})
	}
}
