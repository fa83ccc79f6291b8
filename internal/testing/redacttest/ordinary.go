package redacttest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"
)

// Ordinary yields, without end, what stands in error texts and is nobody's data: claims, guides, codes, job keys,
// instants, amounts, UUIDs and the messages of insurers and programs. The same seed yields the same texts.
func Ordinary(seed uint64) iter.Seq[string] {
	return func(yield func(string) bool) {
		m := maker{rand.New(rand.NewPCG(seed, 2))}
		for more := true; more; {
			more = yield(m.ordinary())
		}
	}
}

func (m maker) ordinary() string {
	t := time.Date(2024, 1, 1, 0, 0, m.IntN(100_000_000), m.IntN(1e9), time.UTC)
	switch m.IntN(16) {
	case 0:
		return fmt.Sprintf("CLM-%d-%06d", 2020+m.IntN(8), m.IntN(1_000_000))
	case 1:
		return "CLM-" + strings.ToUpper(m.syllables(1)) + m.digits(m.IntN(4)) + "-" + m.digits(3+m.IntN(10))
	case 2:
		return m.jobKey()
	case 3:
		return "job " + m.jobKey() + ", process instance " + m.jobKey()
	case 4:
		return one(m, "guia ", "Guia nº ", "numeroGuiaPrestador=", "guia: ") + m.digits(6+m.IntN(7))
	case 5:
		return one(m, "protocolo ", "numeroProtocolo: ", "lote ") + m.digits(8+m.IntN(5))
	case 6:
		return one(m, "glosa ", "código ", "TISS ", "procedimento ") + one(m, "1011", "5016", "3052", "1.01.01.01-2", "10101012", "40304361", "4.03.04.36-1", "20.1.2")
	case 7:
		return one(m, t.Format(time.RFC3339Nano), t.Format(time.DateTime), t.Format(time.RFC1123Z), t.Format("02/01/2006 15:04:05"), t.Format("20060102150405"),
			fmt.Sprint(t.Unix()), fmt.Sprint(t.UnixMilli()), fmt.Sprint(t.UnixNano()), t.Format("2006-01-02T15:04:05.000-03:00"))
	case 8:
		return one(m, "HTTP/1.1 503 Service Unavailable", "504 Gateway Time-out", "HTTP 429 Too Many Requests (retry after 30 s)", "502 Bad Gateway nginx/1.25.3")
	case 9:
		return fmt.Sprintf("valor R$ %d.%03d,%02d", m.IntN(1000), m.IntN(1000), m.IntN(100))
	case 10:
		return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", m.Uint32(), m.IntN(1<<16), m.IntN(1<<12), m.IntN(1<<12), m.Uint64()>>16)
	case 11:
		return fmt.Sprintf("dial tcp %d.%d.%d.%d:%d: connect: connection refused", m.IntN(256), m.IntN(256), m.IntN(256), m.IntN(256), 1024+m.IntN(60000))
	case 12:
		return fmt.Sprintf("ORA-%05d: at line %d, E%04d-%03d", m.IntN(99999), m.IntN(9999), m.IntN(9999), m.IntN(999))
	case 13:
		message := one(m, messages...)
		return one(m, message, strings.ToUpper(message))
	default:
		return one(m, messages...) + one(m, " (", " em ", "; job ") + one(m, t.Format(time.RFC3339), m.jobKey(), "tentativa 3 de 5") + one(m, ")", "")
	}
}

// jobKey returns a key of Zeebe: a partition's number times 2^51 and a counter.
func (m maker) jobKey() string {
	return fmt.Sprint((1+m.Uint64N(3))<<51 + 1 + m.Uint64N(1<<(8+m.IntN(25))))
}

// messages are error texts as insurers and programs send them, with words that also announce personal data, but with
// none of it.
//
//nolint:misspell // Portuguese
var messages = []string{
	"TIMEOUT - Connection timeout after 30s",
	"INVALID_PATIENT_DATA - CPF inválido",
	"INVALID_PATIENT_DATA: glosa 1011, identificação do beneficiário não consistente",
	"INSURANCE_EXPIRED desde 2024-12-31",
	"AUTHORIZATION_DENIED: procedimento 40304361 sem autorização",
	"DUPLICATE_CLAIM CLM-2024-000123",
	"SERVICE_UNAVAILABLE: 503 from upstream",
	"TEMPORARY_ERROR: base de beneficiários em sincronização",
	"Beneficiário não encontrado",
	"Beneficiário com pagamento em aberto",
	"Beneficiário sem cobertura para o procedimento",
	"Paciente inativo no plano desde 01/03/2024",
	"Nome do beneficiário não confere com o cadastro da operadora",
	"Nome do beneficiário igualado ao do cadastro",
	"Número da carteira inválido",
	"Titular com contrato suspenso",
	"Data de nascimento do beneficiário inválida",
	"Campo obrigatório: nome do paciente",
	"CPF do responsável não informado",
	"Telefone obrigatório",
	"E-mail do titular inválido",
	"Dependente excluído do contrato em 15/08/2024",
	"cvc-complex-type.2.4.a: Invalid content was found starting with element 'ans:nomeBeneficiario'",
	"rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing\"",
	"java.net.SocketTimeoutException: Read timed out at br.com.operadora.tiss.Client.send(Client.java:214)",
	"x509: certificate signed by unknown authority",
	"Lote 123456 rejeitado: hash inválido d41d8cd98f00b204e9800998ecf8427e",
	"Versão do padrão TISS 4.01.00 não suportada",
	"deadlock detected while waiting for resource",
	"expected 200 OK, got 504",
	"usuario nao autorizado",
	"Usuário sem permissão para a operação",
	"dependente sem cobertura",
	"RN sem registro",
	"RN 395 da ANS: prazo excedido",
	"pai nao informado",
	"associado inativo",
	"Conveniado(a) não localizado(a)",
	"cônjuge não cadastrado",
	"assinante bloqueado",
	"erro na validacao do pac. 503",
	"resp. 503 Service Unavailable",
	"Benef. não localizado",
	"Beneficiário 000123456 não encontrado",
	"Paciente nº 55, guia 123456",
	"A beneficiária, até esta data, não possui cobertura",
}
