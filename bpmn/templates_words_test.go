package bpmn_test

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/lang"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/worker/input"
)

// What may be entered for the headers of the analysis task. An empty one is left out of the model.
const (
	durationPattern   = `^(([0-9]+([.][0-9]+)?(ms|s|m|h))+|P[0-9]+[DW]|P([0-9]+D)?T([0-9]+H)?([0-9]+M)?[0-9]+([.][0-9]+)?[HMS])?$`
	maxRetriesPattern = `^([0-9]{1,3}|1000)?$`
	withPattern       = `^[a-z-]{0,30}$`
	retriesPattern    = `^([0-9]+|=.+)$`
)

// words makes the templates in a language.
type words struct{ lang.Language }

func (w words) t(portuguese, english string) string {
	if w.Language == lang.Portuguese {
		return portuguese
	}
	return english
}

// all returns the templates by the name of their files, without language and ending.
func (w words) all() map[string]elementTemplate {
	made := map[string]elementTemplate{
		"analyze-retry":      w.analyze(),
		"record-outcome":     w.record(),
		"submit":             w.submit(),
		"check-status":       w.checkStatus(),
		"retries-exhausted":  w.exhausted(),
		"permanent-error":    w.permanent(),
		"submission-failed":  w.submissionFailed(),
		"wait-for-retry":     w.wait(),
		"review-claim":       w.reviewClaim(),
		"correct-claim-data": w.correctData(),
	}
	for name, one := range made {
		one.Schema = "https://unpkg.com/@camunda/zeebe-element-templates-json-schema/resources/schema.json"
		one.ID = "hospital.example.analyze-retry." + name + "." + string(w.Language)
		one.Version = templateVersion
		one.DocumentationRef = "https://hospital.example/analyze-retry/docs/" + w.t("pt-BR/modelagem.md", "modeling.md")
		one.Category = map[string]string{
			"id": "hospital.example.analyze-retry." + string(w.Language), "name": w.t("Retentativas de cobranças", "Claim retries"),
		}
		one.Engines = map[string]string{"camunda": "^8.5"}
		made[name] = one
	}
	return made
}

func (w words) analyze() elementTemplate {
	const choiceOfPolicy = "policyChoice"
	ofJobType, own := "jobType", "other"
	chosen := property{
		ID: choiceOfPolicy, Group: "policy", Label: w.t("Política", "Policy"), Type: "Dropdown", Value: ofJobType,
		Description: w.t("Quantas vezes e com que espera a cobrança é reenviada, e quais erros são permanentes.",
			"How often and after which wait a claim is sent again, and which errors are permanent."),
		Binding: bind("zeebe:property", "name", choiceOfPolicy),
		Choices: []choice{{w.t("A do tipo de job (RETRY_JOB_TYPES)", "The policy of the job type (RETRY_JOB_TYPES)"), ofJobType}},
	}
	var header []property
	for p := range policy.BuiltIns().All() {
		chosen.Choices = append(chosen.Choices, choice{w.policy(p.Name), p.Name})
		header = append(header, property{
			Type: "Hidden", Value: p.Name, Binding: bind("zeebe:taskHeader", "key", contract.HeaderPolicy), Condition: when(choiceOfPolicy, p.Name),
		})
	}
	chosen.Choices = append(chosen.Choices, choice{w.t("Outra, do arquivo de políticas do hospital", "Another, of the hospital's policies file"), own})
	header = append(header, property{
		Group: "policy", Label: w.t("Nome da política", "Name of the policy"), Type: "String",
		Description: w.t("Como está no arquivo de políticas do worker. Um nome desconhecido gera um incidente.",
			"As in the worker's policies file. An unknown name raises an incident."),
		Binding: bind("zeebe:taskHeader", "key", contract.HeaderPolicy), Constraints: &constraints{NotEmpty: true}, Condition: when(choiceOfPolicy, own),
	})

	override := func(key, pattern string, label, help, placeholder, message string) property {
		return property{
			Group: "overrides", Label: label, Description: help, Placeholder: placeholder, Type: "String", Optional: true,
			Binding: bind("zeebe:taskHeader", "key", key), Constraints: matching(pattern, message),
		}
	}
	inDurations := w.t("Uma duração, como 90s, 5m, 24h ou PT5M", "A duration, such as 90s, 5m, 24h or PT5M")
	inWords := w.t("De 1 a 30 letras de a a z e hífens, como billing", "1 to 30 of a to z and -, such as billing")
	left := func(key, label, help, placeholder string) property {
		p := override(key, withPattern, label, help, placeholder, inWords)
		p.Group = "stopped"
		return p
	}
	properties := []property{
		w.name("input", "Analisar retentativa", "Analyze retry"),
		w.claimID(),
		{
			Group: "input", Label: w.t("Erro do envio", "Error of the submission"), Type: "String", Feel: "required", Value: "=" + contract.SubmissionError,
			Description: w.t("O texto da operadora como veio.", "The insurer's text as received."),
			Binding:     bind("zeebe:input", "name", contract.SubmissionError), Constraints: &constraints{NotEmpty: true},
		},
		chosen,
	}
	properties = append(properties, header...)
	properties = append(properties,
		override(contract.HeaderMaxRetries, maxRetriesPattern, w.t("Máximo de retentativas", "Maximum retries"),
			w.t("Vazio: o da política.", "Empty: the policy's."), "5", w.t("Um número inteiro de 0 a 1000", "A whole number from 0 to 1000")),
		override(contract.HeaderBase, durationPattern, w.t("Primeira espera", "First wait"),
			w.t("Vazio: a da política.", "Empty: the policy's."), "5m", inDurations),
		override(contract.HeaderMax, durationPattern, w.t("Maior espera", "Longest wait"),
			w.t("Vazio: a da política.", "Empty: the policy's."), "4h", inDurations),
		override(contract.HeaderDeadline, durationPattern, w.t("Prazo", "Deadline"),
			w.t("Tempo desde a primeira falha, após o qual nada mais é reenviado. Vazio: o da política.",
				"Time from the first failure after which nothing is sent again. Empty: the policy's."), "48h", inDurations),
		left(contract.HeaderOnExhausted, w.t("Tentativas esgotadas: com quem fica", "Retries used up: left with"),
			w.t("Com quem o seu modelo deixa a cobrança. Fica na trilha de auditoria.", "With whom your model leaves the claim. Kept in the audit trail."), "billing"),
		left(contract.HeaderOnPermanent, w.t("Erro permanente: com quem fica", "Permanent error: left with"),
			w.t("Com quem o seu modelo deixa a cobrança. Fica na trilha de auditoria.", "With whom your model leaves the claim. Kept in the audit trail."), "registration"),
		w.jobType(contract.JobType, w.t("Outro tipo só se o worker o conhece (RETRY_JOB_TYPES). Uma expressão pode escolhê-lo, por exemplo por operadora.",
			"Another type only if the worker knows it (RETRY_JOB_TYPES). An expression can choose it, for example by insurer.")),
		w.retries(),
	)
	return elementTemplate{
		Name: w.t("Analisar retentativa", "Analyze retry"),
		Description: w.t("Decide se uma cobrança que falhou é reenviada e quando. Lança MAX_RETRIES_EXCEEDED ou PERMANENT_ERROR se não for.",
			"Decides whether and when a failed claim is sent again. Throws MAX_RETRIES_EXCEEDED or PERMANENT_ERROR if it is not."),
		Keywords:  []string{"retry", "retentativa", "RN-BIL-005", "backoff", contract.JobType},
		Icon:      icon("M9 3a6 6 0 1 1-5.7 4.1l1.4.5A4.5 4.5 0 1 0 9 4.5V7L5 3.7 9 .5z"),
		AppliesTo: []string{"bpmn:Task", "bpmn:ServiceTask"}, ElementType: map[string]string{"value": "bpmn:ServiceTask"},
		Groups: []group{
			{ID: "input", Label: w.t("Cobrança", "Claim"), OpenByDefault: true},
			{ID: "policy", Label: w.t("Política de retentativas", "Retry policy"), OpenByDefault: true},
			{ID: "overrides", Label: w.t("Mudanças na política", "Changes to the policy"), Tooltip: w.t("Valem só para esta tarefa.", "They apply to this task only.")},
			{ID: "stopped", Label: w.t("Cobranças que param", "Stopped claims")},
			w.jobGroup(),
		},
		Properties: w.logged("analyze-retry", properties),
	}
}

func (w words) record() elementTemplate {
	// A condition cannot compare an expression, so what is chosen is kept apart from the outcome itself.
	const choiceOfOutcome, asOrdered = "outcomeChoice", "RESUBMITTED_OR_REDRIVEN"
	outcomes := property{
		ID: choiceOfOutcome, Group: "outcome", Label: w.t("Desfecho", "Outcome"), Type: "Dropdown", Value: "ABANDONED",
		Description: w.t("Registre o reenvio antes do novo envio, e o abandono como última tarefa antes do fim.",
			"Record a resubmission before the next submission, and a claim given up in the last task before the end."),
		Binding: bind("zeebe:property", "name", choiceOfOutcome),
	}
	var variable []property
	add := func(chosen, label, expression string) {
		outcomes.Choices = append(outcomes.Choices, choice{label, chosen})
		variable = append(variable, property{
			Type: "Hidden", Value: expression, Binding: bind("zeebe:input", "name", contract.Outcome), Condition: when(choiceOfOutcome, chosen),
		})
	}
	var decided []string // by a person
	for _, name := range input.Outcomes() {
		add(name, w.outcome(name), `="`+name+`"`)
		if name != "SUBMITTED" {
			decided = append(decided, name)
		}
	}
	add(asOrdered, w.t("Reenviada, com a espera e a contagem mantidas se redriveWait o pede", "Sent again, with wait and count kept if redriveWait asks for it"),
		`=if redriveWait = null then "RESUBMITTED" else "REDRIVEN"`)
	decided = append(decided, asOrdered)
	said := func(variable, label, help string, chosen ...string) property {
		return property{
			Group: "outcome", Label: label, Description: help, Type: "String", Feel: "required", Value: "=" + variable,
			Binding: bind("zeebe:input", "name", variable), Condition: when(choiceOfOutcome, chosen...),
		}
	}
	return elementTemplate{
		Name: w.t("Registrar desfecho", "Record outcome"),
		Description: w.t("Registra como terminou uma rodada de envios de uma cobrança. Sem isso os indicadores não a contam.",
			"Records how a round of submissions of a claim ended. Without it the KPIs do not count the round."),
		Keywords:  []string{"outcome", "desfecho", "KPI", "audit", "auditoria", contract.OutcomeJobType},
		Icon:      icon("M3 1.5h9l3 3v12H3zM4.5 3v12h9V5.5L11.2 3zM6 9.3l1-1 1.5 1.5L11.7 6.5l1 1-4.2 4.3z"),
		AppliesTo: []string{"bpmn:Task", "bpmn:ServiceTask"}, ElementType: map[string]string{"value": "bpmn:ServiceTask"},
		Groups: []group{
			{ID: "input", Label: w.t("Cobrança", "Claim"), OpenByDefault: true},
			{ID: "outcome", Label: w.t("Desfecho", "Outcome"), OpenByDefault: true},
			w.jobGroup(),
		},
		Properties: w.logged("record-outcome", slices.Concat([]property{
			w.name("input", "Registrar desfecho", "Record outcome"),
			w.claimID(),
			outcomes,
		}, variable, []property{
			said(contract.Justification, w.t("Justificativa", "Justification"), w.t("Por que a pessoa decidiu assim.", "Why the person decided so."), decided...),
			said(contract.DecidedBy, w.t("Quem decidiu", "Decided by"), w.t("Vazia se o processo não sabe.", "Null if the process does not know."), decided...),
			said(contract.RedriveID, w.t("Id do pedido de reenvio", "Id of the re-drive"), w.t("Da mensagem redrive-claim.", "Of the message redrive-claim."), "RESUBMITTED", "REDRIVEN", asOrdered),
			said(contract.RedriveWait, w.t("Espera pedida", "Ordered wait"), w.t("Da mensagem redrive-claim.", "Of the message redrive-claim."), asOrdered),
			said(contract.DecisionProblem, w.t("O que faltou", "What was wrong"), w.t("Em palavras, para a trilha e para quem recebe a tarefa de volta.", "In words, for the trail and for the person who gets the task back."), "DECISION_REFUSED"),
			{Type: "Hidden", Value: contract.OutcomeJobType, Binding: bind("zeebe:taskDefinition", "property", "type")},
			w.retries(),
		})),
	}
}

func (w words) submit() elementTemplate {
	const called = "SubmissionRetryProcess"
	whole := func(name string) property {
		return property{Type: "Hidden", Value: true, Binding: bind("zeebe:calledElement", "property", name)}
	}
	return elementTemplate{
		Name: w.t("Enviar com retentativas", "Submit with retries"),
		Description: w.t("Chama SubmissionRetryProcess: envia a cobrança, espera e reenvia. Capture os erros MAX_RETRIES_EXCEEDED e PERMANENT_ERROR.",
			"Calls SubmissionRetryProcess: sends the claim, waits and sends it again. Catch the errors MAX_RETRIES_EXCEEDED and PERMANENT_ERROR."),
		Keywords:  []string{"retry", "retentativa", "submit", "enviar", called},
		Icon:      icon("M1 2l16 7-16 7 2.5-7zM4.7 9.8l-1.2 3.3L13 9 3.5 4.9l1.2 3.3H10v1.6z"),
		AppliesTo: []string{"bpmn:Task", "bpmn:CallActivity"}, ElementType: map[string]string{"value": "bpmn:CallActivity"},
		Groups: []group{{ID: "call", Label: w.t("Processo chamado", "Called process"), OpenByDefault: true}},
		Properties: []property{
			w.name("call", "Enviar cobrança com retentativas", "Submit claim with retries"),
			{
				Group: "call", Label: w.t("Id do processo", "Process id"), Type: "String", Value: called,
				Description: w.t("Outro só se você implantou uma cópia. O processo precisa da variável claimId.",
					"Another only if you deployed a copy. The process needs the variable claimId."),
				Binding: bind("zeebe:calledElement", "property", "processId"), Constraints: &constraints{NotEmpty: true},
			},
			// "Append element" of Camunda Modeler keeps only the last of the two, and without claimId nothing is sent.
			whole("propagateAllChildVariables"), whole("propagateAllParentVariables"),
		},
	}
}

func (w words) checkStatus() elementTemplate {
	return elementTemplate{
		Name: w.t("Consultar situação", "Check status"),
		Description: w.t("Pergunta à operadora se ela já tem a cobrança, antes de um reenvio que poderia duplicá-la. O worker é do hospital e devolve claimReceived.",
			"Asks the insurer whether it has the claim, before a submission that could duplicate it. The hospital's worker completes it with claimReceived."),
		Keywords:  []string{"status", "consulta", "CHECK_STATUS", "duplicate", "duplicidade", "check-claim-status"},
		Icon:      icon("M7.5 1a6.5 6.5 0 0 1 5.1 10.5l4.1 4.1-1.1 1.1-4.1-4.1A6.5 6.5 0 1 1 7.5 1zm0 1.5a5 5 0 1 0 0 10 5 5 0 0 0 0-10z"),
		AppliesTo: []string{"bpmn:Task", "bpmn:ServiceTask"}, ElementType: map[string]string{"value": "bpmn:ServiceTask"},
		Groups: []group{{ID: "input", Label: w.t("Cobrança", "Claim"), OpenByDefault: true}, w.jobGroup()},
		Properties: []property{
			w.name("input", "Consultar situação na operadora", "Check status with insurer"),
			w.claimID(),
			w.jobType("check-claim-status", w.t("O tipo que o worker do hospital atende.", "The type that the hospital's worker works.")),
			w.retries(),
		},
	}
}

func (w words) exhausted() elementTemplate {
	return w.errorEvent(retry.CodeMaxRetriesExceeded, w.name("event", "Tentativas esgotadas", "Retries used up"), decisionOutputs())
}

func (w words) permanent() elementTemplate {
	return w.errorEvent(retry.CodePermanentError, w.name("event", "Erro permanente", "Permanent error"), append(decisionOutputs(), output("=null", "claimReceived")))
}

func (w words) errorEvent(code string, name property, outputs []property) elementTemplate {
	// The answer of the round before would answer the person's task of this one.
	for _, answer := range []string{"manualDecision", contract.Justification, contract.DecidedBy, contract.DecisionProblem} {
		outputs = append(outputs, output("=null /* "+answer+" */", answer))
	}
	outputs = append(outputs, output(`=string(date and time(now(), "America/Sao_Paulo"))`, "stoppedAt")) // the forms show it
	return elementTemplate{
		Name: w.t("Erro ", "Error ") + code,
		Description: w.t("Captura "+code+" e leva as nove variáveis da decisão às tarefas seguintes; apaga a resposta da rodada anterior. Escolha também, no grupo Error, o erro com esse código.",
			"Catches "+code+" and maps the nine variables of the decision to the next tasks; clears the answer of the round before. Choose the error of this code in the group Error, too."),
		Keywords:  []string{"error", "erro", code},
		AppliesTo: []string{"bpmn:BoundaryEvent"},
		// The group with the error's code is hidden otherwise.
		EntriesVisible: true,
		Groups:         w.eventGroup(),
		Properties:     append([]property{name}, outputs...),
	}
}

func (w words) submissionFailed() elementTemplate {
	return elementTemplate{
		Name: w.t("Erro no envio", "Submission failed"),
		Description: w.t("Captura qualquer erro do envio e leva submissionError, lastSubmissionTime e retryAfter à análise. Não escolha um código de erro.",
			"Catches every error of the submission and maps submissionError, lastSubmissionTime and retryAfter for the analysis. Choose no error code."),
		Keywords:       []string{"error", "erro", contract.SubmissionError},
		AppliesTo:      []string{"bpmn:BoundaryEvent"},
		EntriesVisible: true,
		Groups:         w.eventGroup(),
		Properties: append([]property{w.name("event", "Erro no envio", "Submission failed")},
			output("="+contract.SubmissionError, contract.SubmissionError), output("="+contract.LastSubmissionTime, contract.LastSubmissionTime),
			output("="+contract.RetryAfter, contract.RetryAfter), output("=null", "claimReceived")),
	}
}

func (w words) wait() elementTemplate {
	properties := []property{
		w.name("wait", "Aguardar a retentativa", "Wait for the retry"),
		{
			Group: "wait", Label: w.t("Espera", "Wait"), Type: "String", Feel: "required", Value: "=duration(retryDecision.backoffDuration)",
			Description: w.t(`A espera exata da decisão. Para um worker sem retryDecision: ="PT" + string(backoffMinutes) + "M".`,
				`The exact wait of the decision. For a worker without retryDecision: ="PT" + string(backoffMinutes) + "M".`),
			Binding: bind("bpmn:TimerEventDefinition#property", "name", "timeDuration"), Constraints: &constraints{NotEmpty: true},
		},
	}
	for _, name := range []string{contract.SubmissionError, contract.LastSubmissionTime, contract.RetryAfter} {
		// Camunda Modeler tells output mappings apart by their source, so each has one of its own.
		properties = append(properties, output("=null /* "+name+" */", name))
	}
	return elementTemplate{
		Name: w.t("Aguardar a retentativa", "Wait for the retry"),
		Description: w.t("Espera o tempo da decisão e apaga o erro do envio anterior.",
			"Waits as long as was decided, then clears the error of the previous submission."),
		Keywords:    []string{"timer", "espera", "wait", "backoff"},
		AppliesTo:   []string{"bpmn:IntermediateThrowEvent", "bpmn:IntermediateCatchEvent"},
		ElementType: map[string]string{"value": "bpmn:IntermediateCatchEvent", "eventDefinition": "bpmn:TimerEventDefinition"},
		Groups:      []group{{ID: "wait", Label: w.t("Espera", "Wait"), OpenByDefault: true}},
		Properties:  properties,
	}
}

func (w words) reviewClaim() elementTemplate {
	return w.person("Revisar cobrança", "Review claim", "analyze-retry-review-claim", "billing",
		w.t("Uma pessoa decide sobre uma cobrança cujas tentativas se esgotaram: reenviar, desistir ou corrigir.",
			"A person decides about a claim whose retries are used up: resubmit, abandon or correct."))
}

func (w words) correctData() elementTemplate {
	return w.person("Corrigir dados", "Correct data", "analyze-retry-correct-data", "registration",
		w.t("Uma pessoa corrige os dados de uma cobrança que a operadora recusou, ou desiste dela.",
			"A person corrects the data of a claim that the insurer refused, or abandons it."))
}

func (w words) person(portuguese, english, form, team, description string) elementTemplate {
	return elementTemplate{
		Name: w.t(portuguese, english), Description: description,
		Keywords:  []string{"user task", "tarefa", "form", "formulário", team},
		Icon:      icon("M9 1.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM9 3a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM2 16.5c0-4 3-6.5 7-6.5s7 2.5 7 6.5zm1.6-1.5h10.8C13.8 12.7 11.8 11.5 9 11.5S4.2 12.7 3.6 15z"),
		AppliesTo: []string{"bpmn:Task", "bpmn:UserTask"}, ElementType: map[string]string{"value": "bpmn:UserTask"},
		Groups: []group{{ID: "person", Label: w.t("Quem decide", "Who decides"), OpenByDefault: true}},
		Properties: []property{
			w.name("person", portuguese, english),
			{Type: "Hidden", Binding: map[string]string{"type": "zeebe:userTask"}},
			{
				Group: "person", Label: w.t("Grupos", "Groups"), Type: "String", Feel: "optional", Value: team,
				Description: w.t("Os grupos do Tasklist a que a tarefa é oferecida, separados por vírgula.", "The groups in Tasklist that are offered the task, separated by commas."),
				Binding:     bind("zeebe:assignmentDefinition", "property", "candidateGroups"), Constraints: &constraints{NotEmpty: true},
			},
			{
				Group: "person", Label: w.t("Formulário", "Form"), Type: "String", Value: form,
				Description: w.t("O id do formulário. `worker deploy` implanta este.", "The form's id. `worker deploy` deploys this one."),
				Binding:     bind("zeebe:formDefinition", "property", "formId"), Constraints: &constraints{NotEmpty: true},
			},
		},
	}
}

// name sets the element's name where it has none.
func (w words) name(group, portuguese, english string) property {
	return property{Group: group, Type: "String", Label: w.t("Nome", "Name"), Value: w.t(portuguese, english), Binding: bind("property", "name", "name")}
}

func (w words) claimID() property {
	return property{
		Group: "input", Label: w.t("Id da cobrança", "Claim id"), Type: "String", Feel: "required", Value: "=" + contract.ClaimID,
		Description: w.t("Uma expressão, se o seu processo lhe dá outro nome.", "An expression, if your process names it differently."),
		Binding:     bind("zeebe:input", "name", contract.ClaimID), Constraints: &constraints{NotEmpty: true},
	}
}

func (w words) eventGroup() []group {
	return []group{{ID: "event", Label: w.t("Evento", "Event"), OpenByDefault: true}}
}

func (w words) jobGroup() group { return group{ID: "job", Label: "Job"} }

func (w words) jobType(name, help string) property {
	return property{
		Group: "job", Label: w.t("Tipo do job", "Job type"), Description: help, Type: "String", Feel: "optional", Value: name,
		Binding: bind("zeebe:taskDefinition", "property", "type"), Constraints: &constraints{NotEmpty: true},
	}
}

func (w words) retries() property {
	return property{
		Group: "job", Label: w.t("Repetições do job", "Job retries"), Type: "String", Feel: "optional", Value: "3",
		Description: w.t("Quantas vezes o broker repete o job se o worker falha. Não é a contagem de retentativas da cobrança.",
			"How often the broker repeats the job if the worker fails. It is not the claim's retry count."),
		Binding:     bind("zeebe:taskDefinition", "property", "retries"),
		Constraints: matching(retriesPattern, w.t("Um número inteiro", "A whole number")),
	}
}

// logged adds the headers that the worker logs: which template made the task.
func (w words) logged(name string, properties []property) []property {
	header := func(key, value string) property {
		return property{Type: "Hidden", Value: value, Binding: bind("zeebe:taskHeader", "key", key)}
	}
	return append(properties,
		header(contract.HeaderTemplateID, "hospital.example.analyze-retry."+name+"."+string(w.Language)),
		header(contract.HeaderTemplateVersion, strconv.Itoa(templateVersion)))
}

// policies are the Portuguese words for the built-in policies; the English ones are their descriptions.
var policies = map[string]string{
	"tiss":       "cobranças à operadora por TISS",
	"rn-bil-005": "só os termos dos documentos",
	"job-queue":  "trabalhos de uma fila, com os limites de cada um",
	"smtp":       "e-mails por SMTP",
	"smtp-dev":   "e-mails por SMTP, em desenvolvimento",
	"fast":       "falhas passageiras, repetidas após 1, 5 e 25 segundos",
}

func (w words) policy(name string) string {
	entry, _ := policy.BuiltIns().Entry(name)
	return name + ": " + w.t(policies[name], entry.Description)
}

// outcome returns the words for an outcome, its name where there are none.
func (w words) outcome(name string) string {
	switch name {
	case "SUBMITTED":
		return w.t("Enviada: a operadora aceitou (SUBMITTED)", "Submitted: the insurer has accepted it (SUBMITTED)")
	case "RESUBMITTED":
		return w.t("Reenviada por uma pessoa (RESUBMITTED)", "Sent again by a person (RESUBMITTED)")
	case "ABANDONED":
		return w.t("Abandonada (ABANDONED)", "Given up (ABANDONED)")
	case "REDRIVEN":
		return w.t("Reenvio pedido, a rodada continua (REDRIVEN)", "Re-drive, the round goes on (REDRIVEN)")
	case "DECISION_REFUSED":
		return w.t("Resposta inválida de uma pessoa (DECISION_REFUSED)", "A person's answer that was none (DECISION_REFUSED)")
	}
	return name
}

func bind(kind, key, value string) map[string]string {
	return map[string]string{"type": kind, key: value}
}

func when(property string, values ...string) *condition {
	return &condition{Property: property, OneOf: values, Type: "simple"}
}

func matching(value, message string) *constraints {
	return &constraints{Pattern: &pattern{value, message}}
}

func output(source, target string) property {
	return property{Type: "Hidden", Value: target, Binding: bind("zeebe:output", "source", source)}
}

// decisionOutputs map what the worker sends with an error: an answer's variables and the error text.
func decisionOutputs() []property {
	var outputs []property
	for field := range reflect.TypeFor[contract.Decision]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Name == "RetryDecision" {
			outputs = append(outputs, output("="+contract.OriginalError, contract.OriginalError))
		}
		outputs = append(outputs, output("="+name, name))
	}
	return outputs
}

func icon(path string) map[string]string {
	svg := `<svg xmlns="http://www.w3.org/2000/svg" width="18" height="18" viewBox="0 0 18 18"><path fill="#0b6e4f" fill-rule="evenodd" d="` + path + `"/></svg>`
	return map[string]string{"contents": "data:image/svg+xml;utf8," + url.PathEscape(svg)}
}
