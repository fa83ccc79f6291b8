package redact

import "strings"

// lower writes the word in small letters into buf and returns them.
func lower(buf *[maxWord]byte, letters []byte) []byte {
	for i, c := range letters {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		buf[i] = c
	}
	return buf[:len(letters)]
}

// classify says what one part of an identifier announces. The names are those of Brazilian forms, of TISS messages and
// of the tables behind them; "?" is a letter that came in another encoding.
func classify(letters []byte) field {
	var buf [maxWord]byte
	low := lower(&buf, letters)
	if f := exactly(low); f != 0 {
		return f
	}
	switch low[0] { // most words end here
	case 'c', 'd', 'f', 'n', 't':
		return glued(low)
	}
	return 0
}

// glued knows the compounds of sources that have no capitals: NOMEBENEFICIARIO, dtnascimento, nrcpf, telefonecelular.
func glued(low []byte) field {
	for _, p := range &compounds {
		n := len(p.prefix)
		if len(low) < n+2 || string(low[:n]) != p.prefix {
			continue
		}
		if f := exactly(low[n:]); f&p.rest != 0 {
			return p.kind | f&p.rest&fieldNumbers
		}
	}
	return 0
}

// compounds: with one of these before and one of those kinds after it, a word is of this kind and, when it announces a
// number, of the kind after it.
var compounds = [...]struct {
	prefix     string
	rest, kind field
}{
	{"nome", fieldPerson | fieldLink, fieldName},
	{"nm", fieldPerson, fieldName},
	{"ds", fieldPerson, fieldName},
	{"cpf", fieldPerson | fieldLink | fieldNumbers, fieldCPF},
	{"telefone", fieldPerson | fieldLink | fieldAside | fieldPhone, fieldPhone},
	{"tel", fieldPerson | fieldLink | fieldAside | fieldPhone, fieldPhone},
	{"fone", fieldPerson | fieldLink | fieldAside | fieldPhone, fieldPhone},
	{"celular", fieldPerson | fieldLink | fieldAside, fieldPhone},
	{"dt", fieldBirth, 0},
	{"data", fieldBirth, 0},
	{"numero", fieldNumbers, 0},
	{"num", fieldNumbers, 0},
	{"nr", fieldNumbers, 0},
}

// exactly knows the words of classify that stand alone.
//
//nolint:misspell // the words are Portuguese
func exactly(low []byte) field {
	switch string(low) {
	case "nome", "nomes", "paciente", "pacientes", "beneficiario", "beneficiaria", "beneficiarios", "beneficiarias", "benefici?rio",
		"benefici?ria", "mae", "m?e", "titular", "titulares", "segurado", "segurada", "segurados", "responsavel", "respons?vel", "responsaveis",
		"dependente", "dependentes", "genitora", "genitor", "filiacao", "conjuge", "acompanhante", "nomesocial", "nomecompleto", "nomemae",
		"patient", "patientname", "mothername", "fullname", "beneficiary", "sobrenome", "prenome", "assegurado", "assegurada", "associado", "associada", "associados",
		"associadas", "conveniado", "conveniada", "conveniados", "conveniadas", "c?njuge", "conjuges":
		return fieldName
	case "benef", "benefs", "pac", "pacs", "pcte", "resp", "assoc", "titul", "depend":
		return fieldName | fieldTitle
	case "usuario", "usuaria", "usu?rio", "usuarios", "usuarias", "cliente", "pai", "medico", "medica", "m?dico", "profissional", "solicitante", "filho", "filha",
		"assinante", "assinantes", "rn", "rns", "portador", "portadora", "mother", "father", "aluno", "candidato", "funcionario", "colaborador", "enfermeiro", "enfermeira":
		return fieldWeakName
	case "sr", "sra", "srta", "dr", "dra":
		return fieldTitle
	case "cpf", "cpfs", "cic":
		return fieldCPF
	case "cpfcnpj", "cnpjcpf":
		return fieldCPF | fieldCNPJ
	case "cns", "sus", "cartaosus", "cartaonacional", "numerocns":
		return fieldCNS
	case "cnpj", "cnpjs", "cgc":
		return fieldCNPJ
	case "cartao", "cart?o", "cartoes", "card", "pan", "cardnumber", "creditcard":
		return fieldCard | fieldCNS
	case "tel", "tels", "telefone", "telefones", "fone", "fones", "celular", "celulares", "cel", "whatsapp", "whats", "wpp", "zap", "phone",
		"mobile", "fax", "contato", "contatos", "recado", "telephone", "cellphone":
		return fieldPhone
	case "nascimento", "nasc", "nascido", "nascida", "nasceu", "dtnasc", "datanasc", "dn", "dob", "birth", "birthdate", "birthday", "born",
		"aniversario", "natalicio", "dtnascto", "nascto":
		return fieldBirth
	case "do", "da", "de", "dos", "das", "os", "as", "no", "nm", "social", "civil", "completo", "completa", "name", "full", "first", "last",
		"of", "eh", "is", "pelo", "pela", "legal", "financeiro", "principal", "ans", "text", "ds", "dsc", "tx":
		return fieldLink
	case "nr", "nro", "num", "numero", "n?mero", "number", "registro", "em", "dia", "data", "date", "para", "com", "informado", "informada",
		"invalido", "invalida", "inv?lido", "invalid", "residencial", "comercial", "valor", "value", "was", "nacional", "saude", "ddd":
		return fieldAside
	}
	return 0
}

// particle reports whether the word joins the words of a name.
func (w *word) particle() bool {
	if w.n > 3 {
		return false
	}
	var buf [maxWord]byte
	switch string(lower(&buf, w.letters[:w.n])) {
	case "de", "da", "do", "das", "dos", "di", "del", "du", "e", "y", "la", "van", "von", "der", "den", "d":
		return true
	}
	return false
}

// ordinary reports whether the word begins no name and is in none: what TISS messages say about patients, what programs
// say about values. A name that is missing here is safe; an ordinary word that is missing costs a reader that word.
//
//nolint:misspell // the words are Portuguese
func (w *word) ordinary() bool {
	if w.n > maxWord {
		return false
	}
	var buf [maxWord]byte
	low := string(lower(&buf, w.letters[:w.n]))
	switch low {
	case "nao", "n?o", "com", "sem", "em", "no", "na", "nos", "nas", "ao", "aos", "por", "para", "pelo", "pela", "que", "se", "foi", "esta",
		"est?", "ja", "ser", "possui", "tem", "teve", "deve", "consta", "ou", "mas", "sob", "ate", "desde", "fora", "sim", "ok", "id", "rg",
		"uf", "cep", "email", "mail", "endereco", "sexo", "idade", "anos", "ano", "plano", "planos", "guia", "guias", "lote", "lotes",
		"glosa", "glosas", "carteira", "carteirinha", "codigo", "codigos", "cod", "tipo", "valor", "status", "campo", "campos", "arquivo",
		"arquivos", "servidor", "host", "banco", "tabela", "sistema", "operadora", "operadoras", "prestador", "prestadora", "convenio",
		"hospital", "clinica", "contrato", "procedimento", "procedimentos", "atendimento", "internacao", "tratamento", "pagamento",
		"faturamento", "cobranca", "autorizacao", "validade", "vigencia", "elegibilidade", "cobertura", "carencia", "obito", "alta",
		"dados", "dado", "cadastro", "registro", "matricula", "senha", "protocolo", "processo", "solicitacao", "hora", "horario",
		"inelegivel", "elegivel", "ativo", "ativa", "ativos", "inativo", "inativa", "falecido", "falecida", "vencido", "vencida", "menor",
		"maior", "igual", "igualado", "diferente", "existente", "inexistente", "ausente", "pendente", "duplicado", "duplicada",
		"desconhecido", "obrigatorio", "obrigat?rio", "vazio", "nulo", "indisponivel", "ilegivel", "restrito", "homonimo", "recem",
		"null", "nil", "none", "undefined", "true", "false", "string", "not", "has", "was", "is", "are", "with", "for", "from", "and", "the",
		"data", "id_", "does", "must", "cannot", "found", "missing", "unknown", "required", "empty", "already", "error", "erro", "falha",
		"timeout", "http", "https", "json", "xml", "internado", "internada", "transferido", "transferida", "estrangeiro", "idoso", "gestante",
		"deferido", "indeferido", "nascimento", "possuem", "estao", "sao", "foram", "quando", "apos", "antes", "entre", "tambem", "favor",
		"verifique", "verificar", "corrigir", "corrija", "tente", "tentar", "aguarde", "informe", "informar", "conforme", "referente", "retry",
		"tiss", "ans", "motivo", "mensagem", "message", "code", "versao", "linha", "coluna", "pos", "node", "at", "row", "column", "relation",
		"violates", "constraint", "tentativa", "element", "elemento", "tag", "length", "prazo", "limite", "executante", "unidade", "debito":
		return true
	}
	for _, stem := range [...]string{
		"invalid", "inv?lid", "inativad", "cancelad", "suspens", "bloquead", "encontrad", "localizad", "cadastrad", "informad", "autorizad",
		"negad", "recusad", "rejeitad", "excluid", "exclu?d", "excedid", "obrigatori", "incorret", "inconsist", "divergent", "incompativ",
		"incomplet", "desligad", "demitid", "identificad", "identifica", "preenchid", "atendid", "vinculad", "expirad", "contratad", "permitid",
		"submission", "connection", "service", "internal", "gateway", "exception",
	} {
		if strings.HasPrefix(low, stem) {
			return true
		}
	}
	return false
}

// givenName reports whether the word is one of the common given names. It is asked only where nothing else shows a name:
// in small letters, with nothing but a blank after the field's name ("paciente maria da silva").
func (w *word) givenName() bool {
	if w.n > maxWord {
		return false
	}
	var buf [maxWord]byte
	switch string(lower(&buf, w.letters[:w.n])) {
	case "maria", "jose", "ana", "joao", "antonio", "francisco", "carlos", "paulo", "pedro", "lucas", "luiz", "luis", "marcos", "gabriel",
		"rafael", "daniel", "marcelo", "bruno", "eduardo", "felipe", "raimundo", "rodrigo", "manoel", "manuel", "mateus", "matheus", "andre",
		"fernando", "fabio", "leonardo", "gustavo", "guilherme", "leandro", "tiago", "thiago", "anderson", "ricardo", "marcio", "jorge",
		"sebastiao", "alexandre", "roberto", "edson", "diego", "vitor", "victor", "sergio", "claudio", "geraldo", "adriano", "luciano",
		"julio", "renato", "alex", "vinicius", "rogerio", "samuel", "ronaldo", "mario", "flavio", "igor", "douglas", "davi", "miguel",
		"arthur", "heitor", "bernardo", "enzo", "caio", "otavio", "benedito", "joaquim", "francisca", "antonia", "adriana", "juliana",
		"marcia", "fernanda", "patricia", "aline", "sandra", "camila", "amanda", "bruna", "jessica", "leticia", "julia", "luciana",
		"vanessa", "mariana", "gabriela", "vera", "vitoria", "larissa", "claudia", "beatriz", "rita", "luana", "sonia", "renata", "eliane",
		"josefa", "simone", "natalia", "cristiane", "carla", "debora", "rosangela", "jaqueline", "rosa", "daniela", "aparecida", "marlene",
		"terezinha", "raimunda", "andreia", "fabiana", "lucia", "raquel", "angela", "rafaela", "joana", "luzia", "elaine", "daniele",
		"helena", "alice", "laura", "sophia", "sofia", "isabela", "isabella", "manuela", "valentina", "heloisa", "cecilia", "lorena",
		"marta", "tereza", "teresa", "silvia", "regina", "paula", "michele", "monica", "viviane", "priscila", "tatiane", "conceicao":
		return true
	}
	return false
}
