package redact_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/redact"
)

// Where the name does not stand right after a whole word for its field, and the odder spellings of other data.
//
//nolint:misspell // Portuguese
func TestOddSpellingsBecomeAMarkToo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"BENEF: ANA PAULA", "BENEF: [NAME]"},
		{"NOME_BENEF=ANA PAULA", "NOME_BENEF=[NAME]"},
		{"nm_benef=ana paula", "nm_benef=[NAME]"},
		{"nomePac=Ana Paula", "nomePac=[NAME]"},
		{"nomeBeneficiario=Ana Paula", "nomeBeneficiario=[NAME]"},
		{"Pac.: Ana Paula", "Pac.: [NAME]"},
		{"Resp. Ana Paula", "Resp. [NAME]"},
		{"dsNome=Ana Paula", "dsNome=[NAME]"},
		{"DSNOME=Ana Paula", "DSNOME=[NAME]"},
		{"NM_PACIENTE: ANA PAULA", "NM_PACIENTE: [NAME]"},
		{"nmpaciente=ana paula", "nmpaciente=[NAME]"},

		{"BENEFICIARIO: 000123456 - ANA PAULA SOUZA", "BENEFICIARIO: 000123456 - [NAME]"},
		{"Paciente n. 55 - Ana Paula", "Paciente n. 55 - [NAME]"},
		{"Paciente nº 55, Ana Paula", "Paciente nº 55, [NAME]"},
		{"Paciente n° 55, Ana Paula", "Paciente n° 55, [NAME]"},
		{`"beneficiario":"000123456 - ANA PAULA"`, `"beneficiario":"000123456 - [NAME]"`},
		{"<paciente>000123 ZULEIDE LIMA</paciente>", "<paciente>000123 [NAME]</paciente>"},
		{"Titular, carteira 0001.2345: Ana Paula", "Titular, carteira 0001.2345: [NAME]"},
		{"Paciente 123.456.789-09 - Ana Paula", "Paciente [CPF] - [NAME]"},
		{"CPF do paciente 123.456.789-09 ANA PAULA", "CPF do paciente [CPF] [NAME]"},

		{"a beneficiária, Ana Paula Souza, não possui cobertura", "a beneficiária, [NAME], não possui cobertura"},
		{"beneficiários: Ana Lima, João Lima e José Souza", "beneficiários: [NAME], [NAME]"},
		{"pacientes: Ana Lima; João Lima; José", "pacientes: [NAME]; [NAME]; [NAME]"},
		{"Paciente: SILVA, MARIA", "Paciente: [NAME], [NAME]"},

		{"associado(a): Ana Paula", "associado(a): [NAME]"},
		{"conveniado(a) Ana Paula", "conveniado(a) [NAME]"},
		{"RN de Maria da Silva", "RN de [NAME]"},
		{"RN DE ZULEIDE LIMA", "RN DE [NAME]"},
		{"pai João de Souza", "pai [NAME]"},
		{"cônjuge: Ana Paula", "cônjuge: [NAME]"},
		{"dependente Ana Paula", "dependente [NAME]"},
		{"assinante Ana Paula", "assinante [NAME]"},
		{"usuário Zuleide Lima inativo", "usuário [NAME] inativo"},
		{"USUARIO: ZULEIDE", "USUARIO: [NAME]"},

		{"x 529.98224725", "x [CPF]"},
		{"x 529982.24725", "x [CPF]"},
		{"x 529,982,247-25", "x [CPF]"},
		{"x 529.982,247-25", "x [CPF]"},
		{"CPF 529,982,247-26", "CPF [CPF]"},
		{`de "maria silva"@hospital.com: x`, "de [EMAIL]: x"},
		{`"email":"\"maria silva\"@hospital.com"`, `"email":"[EMAIL]"`},
		{`"from":"@hospital.com"`, `"from":"@hospital.com"`},
		{"D.N. 31/01/1980", "D.N. [BIRTHDATE]"},
		{"D. N.: 31/01/1980", "D. N.: [BIRTHDATE]"},
		{"Paciente: ANA LIMA D.N. 31/01/1980", "Paciente: [NAME] D.N. [BIRTHDATE]"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			if got := redact.Text(tt.text); got != tt.want {
				t.Errorf("%q\n becomes %q,\n    want %q", tt.text, got, tt.want)
			}
		})
	}
}

// The new words with nobody's name after them.
//
//nolint:misspell // Portuguese
func TestTheSameWordsWithoutANameStay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"usuario nao autorizado", "USUARIO SEM PERMISSAO", "dependente sem cobertura", "RN sem registro", "pai nao informado", "PAI NAO INFORMADO",
		"associado inativo", "erro na validacao do pac. 503", "BENEF. NAO LOCALIZADO", "resp. 503 Service Unavailable", "Paciente 55, Guia 123456",
		"beneficiario 000123456 NAO ENCONTRADO", "beneficiário 000123456, plano inativo", "conveniado cancelado", "RN 395 da ANS", "HTTP 500,502,503-30",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := redact.Text(text); got != text {
				t.Errorf("%q becomes %q", text, got)
			}
		})
	}
}
