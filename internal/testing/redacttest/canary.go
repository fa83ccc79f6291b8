// Package redacttest makes texts with personal data in them, as insurers and programs write them, and finds that data
// again in whatever a test hands it: a redacted text, a database file, a log, what a queue delivered. It shares no code
// with internal/redact, so that neither can hide a mistake of the other. All people in it are invented.
package redacttest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
)

// Kind is a sort of personal data.
type Kind string

// The kinds that canaries carry.
const (
	CPF   Kind = "CPF"
	CNS   Kind = "CNS"
	CNPJ  Kind = "CNPJ"
	Card  Kind = "card number"
	Phone Kind = "telephone number"
	Email Kind = "e-mail address"
	Birth Kind = "birth date"
	Name  Kind = "name"
)

// Secret is one piece of personal data.
type Secret struct {
	Kind Kind
	// Value is the data without any spelling: digits only (a birth date as yyyymmdd), a name or an address in small
	// letters without accents.
	Value string
}

// Canary is an error text with personal data in it.
type Canary struct {
	Text    string
	Secrets []Secret
}

// Canaries yields texts without end. The same seed yields the same texts.
func Canaries(seed uint64) iter.Seq[Canary] {
	return func(yield func(Canary) bool) {
		m := maker{rand.New(rand.NewPCG(seed, 1))}
		for more := true; more; {
			more = yield(m.canary())
		}
	}
}

// Take returns the first n canaries of a seed.
func Take(seed uint64, n int) []Canary {
	canaries := make([]Canary, 0, n)
	for c := range Canaries(seed) {
		if len(canaries) == n {
			break
		}
		canaries = append(canaries, c)
	}
	return canaries
}

type maker struct{ *rand.Rand }

func one[T any](m maker, of ...T) T { return of[m.IntN(len(of))] }

// canary joins one to three secrets with the words they are usually found among.
func (m maker) canary() Canary {
	var c Canary
	parts := []string{one(m, "INVALID_PATIENT_DATA -", "TIMEOUT:", "Erro ao enviar guia 12345:", "HTTP 422 Unprocessable Entity", "glosa 1011;",
		"AUTHORIZATION_DENIED", "java.text.IllegalStateException:", `{"code":"E42","detail":1,`, "<erro><codigo>5016</codigo>", "")}
	for range 1 + m.IntN(3) {
		text, secret := m.piece()
		parts = append(parts, text)
		c.Secrets = append(c.Secrets, secret)
	}
	parts = append(parts, one(m, "não encontrado", "invalid", "TIMEOUT", "NAO LOCALIZADO", "", "}", "</erro>", "(tentativa 3)"))
	c.Text = m.disguise(strings.Join(parts, one(m, " ", ", ", "; ", " | ", "\n")))
	return c
}

// piece is one secret in a spelling of its kind.
func (m maker) piece() (string, Secret) {
	switch m.IntN(8) {
	case 0:
		d := m.digits(11)
		return one(m, "CPF ", "cpf=", `"cpf":"`, "", "<cpf>", "documento ", "do beneficiário ", "CPF") + m.spellCPF(d), Secret{CPF, d}
	case 1:
		d := m.digits(15)
		return one(m, "CNS ", "cns:", `"numeroCNS": "`, "", "cartão nacional de saúde ", "<ans:numeroCNS>") +
			one(m, d, group(d, "    ", 3, 4, 4, 4), group(d, "....", 3, 4, 4, 4), group(d, "----", 3, 4, 4, 4), group(d, "    ", 5, 5, 5)), Secret{CNS, d}
	case 2:
		d := m.digits(14)
		return one(m, "CNPJ ", "cnpj=", "", "prestador ") + one(m, d, group(d, "../-", 2, 3, 3, 4, 2), group(d, "    ", 2, 3, 3, 4, 2)), Secret{CNPJ, d}
	case 3:
		return m.phone()
	case 4:
		d := m.digits(one(m, 15, 16))
		spelled := one(m, d, group(d, "    ", 4, 4, 4, 4, 4), group(d, "----", 4, 4, 4, 4, 4))
		if len(d) == 15 {
			spelled = one(m, d, group(d, "  ", 4, 6, 5))
		}
		return one(m, "cartão ", "card ", "", "pan=") + spelled, Secret{Card, d}
	case 5:
		return m.birth()
	case 6:
		return m.email()
	default:
		return m.name()
	}
}

func (m maker) spellCPF(d string) string {
	return one(m, d, group(d, "..-", 3, 3, 3, 2), group(d, "   ", 3, 3, 3, 2), group(d, ". .-", 3, 3, 3, 2), group(d, "-", 9, 2),
		group(d, "///", 3, 3, 3, 2), group(d, "..--", 3, 3, 3, 2), group(d, "          ", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
		d[:3]+". "+d[3:6]+". "+d[6:9]+" - "+d[9:], d[:9]+" "+d[9:], d[:3]+"."+d[3:], group(d, ",,-", 3, 3, 3, 2))
}

func (m maker) digits(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte("0123456789"[m.IntN(10)])
	}
	return b.String()
}

// group writes digits in groups with one of the separators after each.
func group(d, separators string, sizes ...int) string {
	var b strings.Builder
	for i, n := range sizes {
		n = min(n, len(d))
		b.WriteString(d[:n])
		d = d[n:]
		if d == "" {
			break
		}
		b.WriteByte(separators[min(i, len(separators)-1)])
	}
	return b.String()
}

func (m maker) phone() (string, Secret) {
	area := one(m, "11", "21", "31", "47", "51", "61", "71", "85", "92", "19")
	local := "9" + m.digits(8)
	bare := area + local
	if m.IntN(3) == 0 {
		local = one(m, "2", "3", "4") + m.digits(7)
		bare = area + local
		cut := local[:4] + "-" + local[4:]
		return one(m, "tel ", "fone: ", "", "contato ") + one(m, "("+area+") "+cut, "+55 "+area+" "+cut, "+55"+bare, "("+area+")"+cut, area+" "+cut),
			Secret{Phone, bare}
	}
	cut := local[:5] + "-" + local[5:]
	if m.IntN(3) == 0 {
		return one(m, "tel ", "Telefone: ", "celular=", `"telefone":"`, "WhatsApp ", "<telefone>", "fone do paciente ", "nrTelefone: ", "tel. ") +
			one(m, bare, "0"+bare, area+" "+local, local, cut), Secret{Phone, bare}
	}
	return one(m, "ligar ", "", "tel ", "cel: ") + one(m, "("+area+") "+cut, "("+area+")"+local, "+55 ("+area+") "+cut, "+55"+bare, area+" "+cut,
		"55"+bare, "+55 "+area+" "+local, area+"-"+cut, "("+area+") 9 "+local[1:5]+"-"+local[5:], "(0xx"+area+") "+cut, "(0"+area+") "+cut), Secret{Phone, bare}
}

func (m maker) birth() (string, Secret) {
	y, mo, d := 1926+m.IntN(90), 1+m.IntN(12), 1+m.IntN(28)
	field := one(m, "nascimento ", "Data de nascimento: ", "data de nasc. ", "dt_nasc=", "DN ", "DN: ", "D.N. ", "D. N.: ", "nasc. ", `"dataNascimento":"`, "<dtNascimento>",
		"nascido em ", "DT_NASCIMENTO|", "Nascimento do paciente: ", "nascida em ", "DATA NASC: ", "birthDate=")
	return field + one(m, fmt.Sprintf("%02d/%02d/%d", d, mo, y), fmt.Sprintf("%02d-%02d-%d", d, mo, y),
			fmt.Sprintf("%02d.%02d.%d", d, mo, y), fmt.Sprintf("%d-%02d-%02d", y, mo, d), fmt.Sprintf("%d-%02d-%02dT00:00:00-03:00", y, mo, d),
			fmt.Sprintf("%d%02d%02d", y, mo, d), fmt.Sprintf("%02d%02d%d", d, mo, y)),
		Secret{Birth, fmt.Sprintf("%d%02d%02d", y, mo, d)}
}

func (m maker) email() (string, Secret) {
	local := Fold(one(m, givenNames...)) + one(m, ".", "_", "", "-", "+") + m.syllables(3) + one(m, "", m.digits(2))
	address := local + "@" + one(m, "gmail.com", "hotmail.com", "uol.com.br", "hospital-sao-jose.org.br", "example.com")
	spelled := address
	switch m.IntN(5) {
	case 0:
		spelled = strings.Replace(address, "@", "%40", 1)
	case 1:
		spelled = strings.Replace(address, "@", "&#64;", 1)
	case 2:
		spelled = strings.ToUpper(address)
	}
	if m.IntN(6) == 0 {
		first, rest, _ := strings.Cut(address, "@")
		spelled = `"` + first[:2] + " " + first[2:] + `"@` + rest
		return one(m, "e-mail ", "de ", "") + spelled, Secret{Email, first[2:] + "@" + rest}
	}
	return one(m, "e-mail ", "email=", "", "mailto:", `"email":"`, "para <", "contato: ") + spelled, Secret{Email, address}
}

var givenNames = []string{
	"Maria", "Raquel", "Marcos", "Antônia", "Conceição", "Cecília", "Mário", "Érica", "Ângela", "Valdirene",
	"Gildásio", "Zuleide", "Aparecida", "Cândido", "Otávio", "Lourdes", "Wanderléia",
}

// name makes a name whose surnames exist nowhere, so that any of them in a blob is a leak.
//
//nolint:misspell // Portuguese
func (m maker) name() (string, Secret) {
	title := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	words := []string{one(m, givenNames...)}
	if m.IntN(3) == 0 {
		words = append(words, one(m, givenNames...))
	}
	for range 1 + m.IntN(3) {
		if m.IntN(3) == 0 {
			words = append(words, one(m, "da", "de", "dos", "do", "das", "e"))
		}
		words = append(words, title(m.syllables(3))+one(m, "", "ção", "é", "ões"))
	}
	name := strings.Join(words, " ")
	secret := Secret{Name, Fold(name)}
	small, big := strings.ToLower(name), strings.ToUpper(name)
	field := one(m, "nome", "paciente", "beneficiário", "beneficiario", "mãe", "titular", "segurado", "responsável", "nome_social", "nomeBeneficiario",
		"Nome do paciente", "NOME DA MAE", "nome completo", "nm_paciente", "Paciente", "BENEFICIÁRIO", "nomeMae", "NOMEBENEFICIARIO", "segurada",
		"BENEF", "NOME_BENEF", "nm_benef", "nomePac", "dsNome", "NM_PACIENTE", "associado(a)", "conveniado(a)", "cônjuge", "dependente", "pac", "resp")
	tag := one(m, "nome", "ans:nomeBeneficiario", "nomeMae", "paciente", "NOME")
	plus := strings.ReplaceAll(name, " ", "+")
	return one(m,
		field+" "+name, field+": "+name, field+"="+name, field+" = "+name, field+": "+small, field+" "+big, field+": "+big, field+"="+big,
		`"`+field+`":"`+name+`"`, `"`+field+`" : "`+big+`"`, `"`+field+`":"`+small+`"`, `\"`+field+`\":\"`+name+`\"`, "'"+field+"': '"+name+"'",
		field+"='"+name+"'", "<"+tag+">"+name+"</"+tag+">", "<"+tag+">"+big+"</"+tag+">", "<"+tag+` xsi:type="xs:string">`+name+"</"+tag+">",
		"&lt;"+tag+"&gt;"+name+"&lt;/"+tag+"&gt;", field+"="+plus, field+" - "+name, field+" ("+name+")", field+" "+name+", ",
		`"`+field+`":{"nome":"`+name+`"}`, "Sra. "+name, field+": Sr. "+name, field+":\t"+big, field+"|"+big, field+" é "+name,
		m.distant(name, big), m.distant(name, big), m.distant(name, big),
	), secret
}

// distant writes a name away from its field, or after an abbreviation or a relation.
func (m maker) distant(name, big string) string {
	number := m.digits(2 + m.IntN(8))
	return one(m,
		"BENEFICIARIO: "+number+" - "+big, "Paciente n. "+number+" - "+name, "Paciente nº "+number+", "+name, "segurado "+number+" "+name,
		"a beneficiária, "+name+", não possui cobertura", "o titular, "+name, "Pac.: "+name, "Resp. "+name, "Benef. "+big, "RN de "+name,
		"RN DE "+big, "pai "+name, "usuário "+name, "USUARIO "+big, "assinante "+name, "beneficiários: Ana Lima, "+name, "pacientes: Rui Sá, João Lima e "+name,
		"dependentes: José Lima; "+name,
	)
}

func (m maker) syllables(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(one(m, "zar", "bel", "qui", "trov", "lim", "gra", "pox", "nuv", "dre", "fal", "mirt", "jon", "wes", "kab", "hul"))
		b.WriteString(one(m, "a", "e", "i", "o", "u"))
	}
	return b.String()
}
