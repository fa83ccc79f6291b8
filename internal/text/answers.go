package text

// answerTexts are what the worker answers jobs with: incidents, messages of BPMN errors, the reason of a decision.
var answerTexts = map[string]string{
	// retryReason
	"Retry %d of %d":                        "Retentativa %d de %d",
	"%s, retry %d of %d":                    "%s, retentativa %d de %d",
	"Permanent error %s, no retry":          "Erro permanente %s, sem retentativa",
	"DEADLINE: %s, no retry fits before %s": "DEADLINE: %s, nenhum envio cabe antes de %s",
	"%s, %s":                                "%s, %s",
	"Transient error":                       "Erro transitório",
	"Permanent error":                       "Erro permanente",
	"Unknown error":                         "Erro desconhecido",
	"transient error":                       "erro transitório",
	"permanent error":                       "erro permanente",
	"unknown error":                         "erro desconhecido",

	// messages of BPMN errors
	"claim %s: %s does not pass by itself; correct the data, then resubmit or abandon the claim":                   "conta %s: %s não se resolve sozinho; corrija os dados e depois reenvie ou abandone a conta",
	"claim %s: no retry fits before the deadline %s, last error %s; review the claim, then resubmit or abandon it": "conta %s: nenhum envio cabe antes do prazo final %s, último erro %s; revise a conta e depois reenvie ou abandone",
	"claim %s: %s, last error %s; review the claim, then resubmit or abandon it":                                   "conta %s: %s, último erro %s; revise a conta e depois reenvie ou abandone",

	// incidents: rejected inputs
	"invalid input: %s. Correct the process variables, then resolve the incident": "entrada inválida: %s. Corrija as variáveis do processo e depois resolva o incidente",
	"invalid input: %s. Correct the process variables and the worker's policies (a task header itself is the model's: deploy a corrected model and migrate the instance to it), then resolve the incident": "entrada inválida: %s. Corrija as variáveis do processo e as políticas do worker (o cabeçalho da tarefa é do modelo: implante um modelo corrigido e migre a instância para ele) e depois resolva o incidente",
	"%s":                      "%s",
	"%q":                      "%q",
	"%s; %s":                  "%s; %s",
	"task header%s":           "cabeçalho da tarefa%s",
	"%s is %s but must be %s": "%s: recebido %s, esperado %s",

	// what a variable holds
	"missing":                   "nada",
	"empty":                     "um texto vazio",
	"blank":                     "um texto em branco",
	"no JSON object":            "algo que não é um objeto JSON",
	"an object":                 "um objeto",
	"a list":                    "uma lista",
	"the text %s":               "o texto %s",
	"a text of %d characters":   "um texto de %d caracteres",
	"a number of %d characters": "um número de %d caracteres",
	"%s (%d bytes)":             "%s (%d bytes)",

	// what it must hold
	"a text that matches CLM-<any>-<digits> on one line, without control characters, at most 128 bytes": "um texto da forma CLM-<qualquer>-<dígitos> em uma linha, sem caracteres de controle, com no máximo 128 bytes",
	"one word of letters, digits and . _ : / - that begins with a letter or a digit, at most 128 bytes": "uma palavra de letras, dígitos e . _ : / - que comece com letra ou dígito, com no máximo 128 bytes",
	"the text of the submission error, not blank":                                                       "o texto do erro de envio, não em branco",
	"%s (has the error event an output mapping?)":                                                       "%s (o evento de erro tem um mapeamento de saída, output mapping?)",
	"a whole number, 0 or more (absent counts as 0)":                                                    "um número inteiro, 0 ou mais (ausente vale 0)",
	"an RFC 3339 time or a local date-time, from the year 2000 on, or absent":                           "uma data e hora em RFC 3339 ou local, do ano 2000 em diante, ou ausente",
	"a whole number from 0 to 1000":                                                                     "um número inteiro de 0 a 1000",
	"a whole number from 1 to 1001, or absent":                                                          "um número inteiro de 1 a 1001, ou ausente",
	"whole milliseconds, 1 or more, or absent":                                                          "milissegundos inteiros, 1 ou mais, ou ausente",
	"a duration of more than 0, such as 500ms, 90s, 5m, 24h or PT5M":                                    "uma duração maior que 0, como 500ms, 90s, 5m, 24h ou PT5M",
	"a word such as billing or dead-letter: 1 to 30 of a to z and -":                                    "uma palavra como billing ou dead-letter: 1 a 30 caracteres de a a z e -",
	"SUBMITTED, RESUBMITTED, ABANDONED, REDRIVEN or DECISION_REFUSED":                                   "SUBMITTED, RESUBMITTED, ABANDONED, REDRIVEN ou DECISION_REFUSED",
	"a text that is not blank, at most 500 characters":                                                  "um texto não em branco, com no máximo 500 caracteres",
	"a text of at most 128 characters":                                                                  "um texto de no máximo 128 caracteres",
	"a UUID":                                                                                            "um UUID",
	"a duration such as PT30S or PT40M":                                                                 "uma duração como PT30S ou PT40M",
	"a JSON object of process variables":                                                                "um objeto JSON com as variáveis do processo",
	"texts":                                                                                             "textos",
	"named %s":                                                                                          "um cabeçalho de nome %s",
	"the name of a policy: %s":                                                                          "o nome de uma política: %s",
	"one that policy %s can have: %s %s":                                                                "um valor que a política %s aceite: %s %s",

	// incidents: answers that cannot be given
	"the worker's audit store refused this decision although it takes others; see the worker's log":                                                "o armazenamento de auditoria do worker recusou esta decisão, embora aceite outras; veja o log do worker",
	"this job cannot be delivered to a worker, most likely because a variable is nested too deep; correct the variable, then resolve the incident": "este job não pode ser entregue a um worker, provavelmente porque uma variável tem níveis demais; corrija a variável e depois resolva o incidente",
	"the gateway refused the worker's answer as invalid: a fault of the worker":                                                                    "o gateway recusou a resposta do worker como inválida: é uma falha do worker",
	"the worker's handler gave no answer for this job":                                                                                             "o worker não deu resposta a este job",
	"the worker's handler %s":     "o worker %s",
	"did not return in time":      "não respondeu a tempo",
	"panicked (%T)":               "falhou com um panic (%T)",
	"gave %d answers for %d jobs": "deu %d respostas para %d jobs",
}

// settingTexts are what is wrong with a setting of a policy.
var settingTexts = map[string]string{
	"is missing":                   "não está definido",
	"has %s twice from one source": "tem %s duas vezes da mesma fonte",
	"is %s but must be at least one %s, the precision": "é %s, mas deve ser de pelo menos um %s, a precisão",
	"is %s but must be whole %ss, the precision":       "é %s, mas deve ser um número inteiro de %ss, a precisão",
	"is %s but must be whole milliseconds, 1 or more":  "é %s, mas deve ser um número inteiro de milissegundos, 1 ou mais",
	"is %s but must not be less than min, %s":          "é %s, mas não deve ser menor que min, %s",
	"is %s but must not be less than base, %s":         "é %s, mas não deve ser menor que base, %s",
	"is %s but must be at most %s":                     "é %s, mas deve ser no máximo %s",
	"is %s but must be from 1 to 1000":                 "é %s, mas deve ser de 1 a 1000",
	"is %s but must be from 0 to %s":                   "é %s, mas deve ser de 0 a %s",
	"is %s but must not be negative":                   "é %s, mas não deve ser negativo",
	"minute":                                           "minuto",
	"second":                                           "segundo",
	"millisecond":                                      "milissegundo",
	"must be minute, second or millisecond":            "deve ser minute, second ou millisecond",
	"is %s but must be from 0 to 1: 0.2 spreads a wait by a fifth to both sides": "é %s, mas deve ser de 0 a 1: 0.2 espalha uma espera em um quinto para cada lado",
	"must be claim or any":                    "deve ser claim ou any",
	"must be UNKNOWN, TRANSIENT or PERMANENT": "deve ser UNKNOWN, TRANSIENT ou PERMANENT",
	"is not for inDoubt":                      "não vale para inDoubt",
	"is taken by another rule":                "já é de outra regra",
	"must be TRANSIENT or PERMANENT":          "deve ser TRANSIENT ou PERMANENT",
	"is %q but must be lower-case letters, digits and -, a letter first, at most 63":                                                             "é %q, mas deve ter letras minúsculas, dígitos e -, uma letra primeiro, no máximo 63",
	"is %q but must be letters, digits and . _ : / -, at most 100, and neither unknown nor empty: decisions and the audit trail name their rule": "é %q, mas deve ter letras, dígitos e . _ : / -, no máximo 100, e não ser unknown nem empty: decisões e auditoria citam a regra pelo nome",
}
