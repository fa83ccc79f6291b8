package errtext_test

import (
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry/errtext"
)

// A time is one for trying again only where a word announces it.
func TestATimeThatATextNamesIsRead(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -3*60*60)
	now := time.Date(2026, 11, 24, 20, 0, 0, 0, zone)
	after := func(d time.Duration) string { return d.String() }
	at := func(day, hour, minute int) string {
		return time.Date(2026, 11, day, hour, minute, 0, 0, zone).Format(time.DateTime)
	}
	for text, want := range map[string]string{
		"Sistema em manutenção até 25/11/2026 06:00":                                    at(25, 6, 0),
		"Service unavailable, maintenance until 2026-11-25T06:00:00Z":                   at(25, 3, 0),
		"Sistema indisponível. Previsão de normalização: 26/11, 07:00":                  at(26, 7, 0),
		"nenhum lote será aceito até 01/12 às 08h. Sistema em manutenção":               at(31, 8, 0),
		"Serviço fora do ar, previsão de retorno 14h30":                                 at(25, 14, 30),
		"Lote não processado: base em atualização noturna. Reenvie a partir das 06:30.": at(25, 6, 30),
		"WebService encontra-se em manutenção programada das 22h00 às 04h00.":           at(25, 4, 0),
		"estamos atualizando o sistema, por favor retorne apos as 14h":                  at(25, 14, 0),
		"janela de manutenção em curso até 05:30":                                       at(25, 5, 30),
		"Webservice fora do ar até as 23h59 de hoje":                                    at(24, 23, 59),
		"Sistema indisponível, tente novamente em 40 minutos":                           after(40 * time.Minute),
		"Limite de requisições excedido. Aguarde 60 segundos e tente novamente.":        after(time.Minute),
		"Request denied: quota exceeded for the current minute; retry after 37 seconds": after(37 * time.Second),
		"Limite de 10 chamadas por minuto ultrapassado, libere em 42 segundos.":         after(42 * time.Second),
		"Greylisted, please try again in 300 seconds":                                   after(5 * time.Minute),
		"Portal em manutenção, retorno previsto em 2 horas":                             after(2 * time.Hour),
		"instabilidade no autorizador, volte daqui a 15 min":                            after(15 * time.Minute),
		"Previsão de normalização: 2 horas":                                             after(2 * time.Hour),
		"portal fora do ar, tentar de novo amanhã às 8h":                                at(25, 8, 0),
		"503 busy: batch receiver overloaded, wait 90 seconds before sending again":     after(90 * time.Second),
		"Lock wait timeout exceeded após 50 s na gravação da guia":                      "",
		"previsão de retorno 06:00 UTC":                                                 at(25, 3, 0),
		"sistema em manutenção até dia 28 às 6h":                                        at(28, 6, 0),
		"connect timed out after 30 seconds":                                            "",
		"o servidor não respondeu em 30s":                                               "",
		"Serviço indisponível às 10:02":                                                 "",
		"2026-11-25 06:00:01 ERROR sistema fora do ar":                                  "",
		"HTTP 503 Service not available [10:02:33] GET /x":                              "",
		"O portal não estava disponível às 10:02.":                                      "",
		"Serviço indisponível, tente novamente\n10:02:33 ERROR x":                       "",
		"retry timed out after 30 seconds":                                              "",
		"Conexão perdida; o servidor não respondeu dentro de 30 segundos":               "",
		"Sistema em manutenção até 11/25/2026 06:00":                                    "",
		"Sistema em manutenção até 25/11/99999999999 06:00":                             "",
		"Sistema não disponível até 25/11 06:00":                                        at(25, 6, 0),
		"Retorno às 6:00 PM":                                                            at(25, 18, 0),
		"volta às 6 da manhã":                                                           at(25, 6, 0),
		"retorno previsto ao meio-dia":                                                  at(25, 12, 0),
		"previsão de retorno: 18:00h":                                                   at(25, 18, 0),
		"maintenance until 2026-11-28 06:00:00 -0400":                                   at(28, 7, 0),
		"available at 2026-11-28T06:00:00.123-03:00":                                    at(28, 6, 0),
		"Retorno 28/11/2026 06:00 (GMT-3)":                                              at(28, 6, 0),
		"Retorno às 06:00 do dia 26/11/2026 (horário de Brasília)":                      at(26, 6, 0),
		"fora do ar até 30 de novembro às 7h":                                           at(30, 7, 0),
		"back on Saturday, November 28, 1 PM":                                           at(28, 13, 0),
		"Envio liberado amanhã, a partir das 8h":                                        at(25, 8, 0),
		"o sistema volta na segunda-feira, 07:30":                                       at(30, 7, 30),
		"Manutenção dia 25/11 das 22h às 4h":                                            at(26, 4, 0),
		"Manutenção de sábado às 22h a domingo às 6h":                                   at(29, 6, 0),
		"Manutenção até 06:00. Dúvidas: atendimento das 8h às 18h":                      at(25, 6, 0),
		"volte em meia hora":                                                            "30m0s",
		"aguarde duas horas e 30 minutos":                                               "2h30m0s",
		"liberado novamente após 24 horas":                                              "24h0m0s",
		"retorno em aproximadamente 1h30":                                               "1h30m0s",
		"Prazo para envio do lote até 30/11/2026 às 23:59":                              "",
		"Consulte a central de segunda a sexta das 8h às 18h":                           "",
		"A manutenção que terminaria às 02:00 foi prorrogada":                           "",
		"retry 3/5 failed at 10:02":                                                     "",
		"timeout aguardando retorno da operadora por 60 segundos":                       "",
		"prazo de 30 dias para envio, guia recusada":                                    "",
	} {
		x := errtext.Read(text)
		got := ""
		wait, until := x.Hint(now)
		if wait > 0 {
			got = wait.String()
		} else if !until.IsZero() {
			got = until.In(zone).Format(time.DateTime)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		x.Free()
	}
}
