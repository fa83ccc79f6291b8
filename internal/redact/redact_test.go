package redact_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/testing/check"
)

// What is found, by kind and spelling. CPF 123.456.789-09 is the usual specimen; all others are made up too.
func TestPersonalDataBecomesAMark(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"CPF dotted", "CPF 123.456.789-09 inválido", "CPF [CPF] inválido"},
		{"CPF dotted, wrong check digits", "doc 123.456.789-00", "doc [CPF]"},
		{"CPF spaced", "123 456 789 09", "[CPF]"},
		{"CPF bare", "x 12345678909 y", "x [CPF] y"},
		{"CPF bare, wrong check digits, after its field", "CPF: 12345678900", "CPF: [CPF]"},
		{"CPF without its leading zero", `{"cpf":1234567890}`, `{"cpf":[CPF]}`},
		{"CPF in another person's field", "cpfResponsavel=12345678900", "cpfResponsavel=[CPF]"},
		{"CPF glued to its field", "CPF12345678909", "CPF[CPF]"},
		{"CPF full width", "１２３．４５６．７８９－０９", "[CPF]"},
		{"CPF in Arabic digits", "١٢٣٤٥٦٧٨٩٠٩", "[CPF]"},
		{"CPF percent-escaped", "cpf%3D123%2E456%2E789%2D09", "cpf%3D[CPF]"},
		{"CPF escaped twice", "cpf=123%252E456%252E789%252D09", "cpf=[CPF]"},
		{"CPF as HTML entities", "&#49;&#50;&#51;.456.789-&#x30;9", "[CPF]"},
		{"CPF as JSON escapes", `\u0031\u0032\u0033.456.789-09`, "[CPF]"},
		{"CPF with characters nobody sees", "1\u200b23\u00ad456\u206078909", "[CPF]"},
		{"CPF with typographic dashes", "123.456.789\u201309", "[CPF]"},
		{"CPF with a NUL inside", "123\x00.456.789-09", "[CPF]"},
		{"CPF with all its digits apart", "1 2 3 4 5 6 7 8 9 0 9", "[CPF]"},
		{"CPF and dash only", "123456789-09", "[CPF]"},
		{"two CPFs", "123.456.789-09/987.654.321-00", "[CPF]/[CPF]"},

		{"CNS bare", "CNS 898001160651851", "CNS [CNS]"},
		{"CNS in groups", "898 0011 6065 1851", "[CNS]"},
		{"CNS, wrong, after its field", "numeroCNS: 898001160651854", "numeroCNS: [CNS]"},
		{"CNPJ", "11.222.333/0001-81", "[CNPJ]"},
		{"CNPJ bare", "11222333000181", "[CNPJ]"},
		{"CNPJ wrong", "11.222.333/0001-80", "[CNPJ]"},
		{"CNPJ with letters", "12.ABC.345/01DE-35 e 12ABC34501DE35", "[CNPJ] e [CNPJ]"},
		{"CNPJ that begins with a letter", "AB.CDE.345/01DE-35", "[CNPJ]"},

		{"e-mail", "de Maria.Silva+x@hospital.com.br:", "de [EMAIL]:"},
		{"e-mail percent-escaped", "?to=maria%40uol.com.br&x=1", "?to=[EMAIL]&x=1"},
		{"e-mail full width", "maria＠uol．com．br", "[EMAIL]"},
		{"e-mail in a name's field", "nome: maria@uol.com", "nome: [EMAIL]"},

		{"phone with country", "+55 11 98765-4321", "[PHONE]"},
		{"phone with country, bare", "+5511987654321", "[PHONE]"},
		{"phone with area", "(11) 3456-7890.", "[PHONE]."},
		{"phone with carrier", "(0xx11) 98765-4321", "[PHONE]"},
		{"phone without parentheses", "11 98765-4321", "[PHONE]"},
		{"phone bare, after its field", "telefone: 11987654321", "telefone: [PHONE]"},
		{"phone in JSON", `{"nrTelefone":"1134567890"}`, `{"nrTelefone":"[PHONE]"}`},
		{"local phone, after its field", "cel. 98765-4321", "cel. [PHONE]"},
		{"numbered phone field", "telefone1: 11987654321", "telefone1: [PHONE]"},
		{"two phones", "tel: 11 98765-4321 / 21 3456-7890", "tel: [PHONE] / [PHONE]"},

		{"card in groups", "4111 1111 1111 1111", "[CARD]"},
		{"card bare", "cartão 5555555555554444", "cartão [CARD]"},
		{"American Express", "378282246310005", "[CARD]"},
		{"card that looks like a job key, in groups", "2251 7998 1368 5251", "[CARD]"},

		{"birth date", "nascimento 31/01/1980", "nascimento [BIRTHDATE]"},
		{"birth date ISO", `"dataNascimento":"1980-01-31T00:00:00"`, `"dataNascimento":"[BIRTHDATE]T00:00:00"`},
		{"birth date abbreviated", "dt_nasc=31011980, DN: 1.2.80", "dt_nasc=[BIRTHDATE], DN: [BIRTHDATE]"},
		{"birth date in words", "nascido em 1º de março de 1980 em Belém", "nascido em [BIRTHDATE] em Belém"},
		{"birth date of a patient", "Data de nascimento do paciente: 31-JAN-1980", "Data de nascimento do paciente: [BIRTHDATE]"},
		{"birth date in English", "birthDate: January 31, 1980", "birthDate: [BIRTHDATE]"},

		{"name", "Paciente: Maria da Silva não encontrada", "Paciente: [NAME] não encontrada"},
		{"name without a colon", "beneficiário João de Sá e Souza com débito", "beneficiário [NAME] com débito"},
		{"name in capitals", "PACIENTE MARIA DA SILVA NAO LOCALIZADA", "PACIENTE [NAME] NAO LOCALIZADA"},
		{"name in small letters", "nome=maria da silva; x", "nome=[NAME]; x"},
		{"name in small letters, without a colon", "paciente maria da silva não encontrada", "paciente [NAME] não encontrada"},
		{"name in JSON", `{"nomeMae":"Ângela D'Ávila Nº 3","id":7}`, `{"nomeMae":"[NAME]","id":7}`},
		{"name in JSON in a string", `{\"nome\":\"Maria\",\"x\":1}`, `{\"nome\":\"[NAME]\",\"x\":1}`},
		{"name in nested JSON", `"paciente":{"id":7,"nome":"Maria"}`, `"paciente":{"id":7,"nome":"[NAME]"}`},
		{"name in XML", "<ans:nomeBeneficiario>MARIA</ans:nomeBeneficiario> recusado", "<ans:nomeBeneficiario>[NAME]</ans:nomeBeneficiario> recusado"},
		{"name in XML with attributes", `<nome xsi:type="xs:string">Maria Sá</nome>`, `<nome xsi:type="xs:string">[NAME]</nome>`},
		{"name in escaped XML", "&lt;nome&gt;Jos&eacute; S&aacute;&lt;/nome&gt;", "&lt;nome&gt;[NAME]&lt;/nome&gt;"},
		{"name in a URL", "?nome=Maria%20da+Silva&cpf=", "?nome=[NAME]&cpf="},
		{"name with initials", "Titular: Maria A. B. Silva, CPF", "Titular: [NAME], CPF"},
		{"name of several words for the field", "Nome social do paciente: Maria", "Nome social do paciente: [NAME]"},
		{"name and the next field", "Mãe: Maria Silva Pai: José", "Mãe: [NAME] Pai: [NAME]"},
		{"name on a line of its own", "nome: Maria Silva\nStatus: 5", "nome: [NAME]\nStatus: 5"},
		{"name after a title", "a Sra. Maria Silva ligou", "a Sra. [NAME] ligou"},
		{"name that ends in small letters", "nome: Maria silva", "nome: [NAME]"},
		{"name in Latin-1", "benefici\xe1rio: CONCEI\xc7\xc3O S\xc1", "benefici\ufffdrio: [NAME]"},
		{"name with combining accents", "paciente Joa\u0303o Sa\u0301", "paciente [NAME]"},
		{"names in a list", `"pacientes":["Maria","José Sá"],"x":"y"`, `"pacientes":["[NAME]","[NAME]"],"x":"y"`},
		{"phones in a list", `"telefones": ["11987654321", "2133334444"]`, `"telefones": ["[PHONE]", "[PHONE]"]`},
		{"name with an apostrophe", "nome: O'Brien Souza", "nome: [NAME]"},
		{"name in a database's message", "Key (nome)=(Maria Silva) already exists", "Key (nome)=([NAME]) already exists"},
		{"everything at once", "Paciente MARIA SA CPF 12345678909 tel 11987654321", "Paciente [NAME] CPF [CPF] tel [PHONE]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := redact.Text(tt.text); got != tt.want {
				t.Errorf("%q\n becomes %q,\n    want %q", tt.text, got, tt.want)
			}
		})
	}
}

// What looks like personal data and is none, or cannot be told from other things.
func TestOtherDataStays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text string }{
		{"an IP address in the form of a CPF", "dial tcp 192.168.100.12:443"},
		{"a list of statuses", "HTTP 500 502 503 30"},
		{"eleven digits with wrong check digits", "guia 12345678900"},
		{"one digit eleven times", "11111111111"},
		{"a job key that is right for Mastercard", "job 2251799813685251"},
		{"a job key that is right for Visa", "job 4503599627370500"},
		{"an instant", "2024-11-21T10:30:00.123-03:00"},
		{"a bare number of eleven digits that might be a phone", "protocolo 11987654321"},
		{"a claim", "CLM-98765-4321"},
		{"a year and a number", "processo 21 2024-1234-0"},
		{"a worker's name", "analyze-retry@worker-1"},
		{"a date that is no birth date", "vigência 31/01/2024"},
		{"an identifier with a field's word", "INVALID_PATIENT_DATA: Glosa 1011"},
		{"a patient without a name", "paciente não encontrado"},
		{"a patient without a name, in capitals", "PACIENTE NAO ENCONTRADO NO CADASTRO"},
		{"a field's name at the end", "Campo obrigatório: nome do paciente"},
		{"the end of a tag", "<nome></nome> ausente"},
		{"a key in JSON", `"paciente":{"id":7}`},
		{"groups of a CPF with another separator at the end, wrong check digits", "123 456 789.00"},
		{"a country code without an area in use", "+55 10 98765 4321"},
		{"a column", "Incorrect string value for column 'nome_paciente' at row 1"},
		{"a claim with an 11-digit number in it", "CLM-123-45678909"},
		{"a null", `"nome":null`},
		{"marks", "CPF [CPF], tel [PHONE] 12345678, [NAME]: Foo"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := redact.Text(tt.text); got != tt.text {
				t.Errorf("%q becomes %q", tt.text, got)
			}
		})
	}
}

// The lists are reviewed by people, and are edited by hand.
func TestWordListsAreClean(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z?_]{1,48}$`)
	files, err := filepath.Glob("words/*.txt")
	if err != nil || len(files) < 19 {
		t.Fatalf("%d lists: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		check.Must(t, err)
		comment, words, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "\n")
		list := strings.Split(words, "\n")
		if !strings.HasPrefix(comment, "# ") || !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("%s has no comment, is not sorted or has a word twice", file)
		}
		for _, word := range list {
			if !form.MatchString(word) {
				t.Errorf("%s: %q is not a word in small letters", file, word)
			}
		}
	}
}
