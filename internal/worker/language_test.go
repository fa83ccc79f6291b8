package worker_test

import (
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker"
	"hospital.example/analyze-retry/internal/worker/contract"
)

func in(l text.Language) option { return func(o *worker.Worker) { o.Language = l } }

func TestPortugueseWorkerAnswersPeopleInPortuguese(t *testing.T) {
	a := ask(t, newMemory(), newJob(`{"claimId":"CLM-1-1","submissionError":"503","retryUntil":"2025-01-12T10:42:00Z"}`), in(text.Portuguese))
	check.Contains(t, a.Variables, `"retryReason":"DEADLINE: Erro transitório, nenhum envio cabe antes de 2025-01-12T10:42:00Z"`)
	check.Same(t, "conta CLM-1-1: nenhum envio cabe antes do prazo final 2025-01-12T10:42:00Z, último erro 503 (TRANSIENT); "+
		"revise a conta e depois reenvie ou abandone", a.Message, "message")
	a = ask(t, newMemory(), newJob(timeout), in(text.Portuguese), ofType(contract.BackoffJobType))
	check.Contains(t, a.Variables, `"retryReason":"Retentativa 5 de 5"`)
}

func TestPortugueseIncidentIsLoggedInEnglish(t *testing.T) {
	const variables = `{"claimId":"Maria","retryCount":2.5}`
	m := newMemory()
	core, logs := observer.New(zap.WarnLevel)
	a := ask(t, m, newJob(variables), in(text.Portuguese), loggedTo(core))
	const want = `INVALID_ERROR_MESSAGE: entrada inválida: ` +
		`claimId: recebido o texto "[palavra]", esperado um texto da forma CLM-<qualquer>-<dígitos> em uma linha, sem caracteres de controle, com no máximo 128 bytes; ` +
		`submissionError: recebido nada, esperado o texto com que o envio falhou (o evento de erro tem um mapeamento de saída, output mapping?); ` +
		`retryCount: recebido 2.5, esperado um número inteiro, 0 ou mais (ausente vale 0). ` +
		`Corrija as variáveis do processo e depois resolva o incidente`
	check.Same(t, want, a.Message, "incident")
	check.Same(t, a.Message, m.only(t).Message, "record")
	logged := logs.All()[0].ContextMap()["error"].(string)
	check.Contains(t, logged, `invalid input: claimId is the text "[word]" but must be`, "submissionError is missing", "retryCount is 2.5")

	core, logs = observer.New(zap.WarnLevel)
	m = newMemory()
	outcomes := optionsOn(m, in(text.Portuguese), loggedTo(core))
	a = outcomes.RecordOutcome(t.Context(), []job.Job{newJob(`{"claimId":"CLM-1-1","outcome":"LOST"}`)})[0]
	check.Same(t, job.KindFail, a.Kind, "answer")
	check.Same(t, a.Message, m.only(t).Message, "record")
	check.Contains(t, a.Message, `outcome: recebido o texto "LOST", esperado SUBMITTED, RESUBMITTED, ABANDONED, REDRIVEN ou DECISION_REFUSED`)
	check.Contains(t, logs.All()[0].ContextMap()["error"].(string), `outcome is the text "LOST" but must be SUBMITTED`)
}
