package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/collectortest"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
	"hospital.example/analyze-retry/internal/testing/redacttest"
)

// passed is a trace that a model passes.
const (
	passedTrace = "0af7651916cd43dd8448eb211c80319c"
	passedSpan  = "b7ad6b7169203331"
	passed      = "00-" + passedTrace + "-" + passedSpan + "-01"
)

// traceTo has workers send their spans to a collector, by a protocol, soon.
func traceTo(t *testing.T, c *collectortest.Collector, protocol string) {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
}

// tracedJob is a job about a claim with what the model passes as a trace, in JSON.
func tracedJob(claim, text, trace string) gatewaytest.Job {
	return gatewaytest.Job{
		Type: "analyze-retry", ProcessInstanceKey: 77, ProcessID: "SUB_06", ElementID: "AnalyzeRetry",
		Variables: `{"claimId":` + quoted(claim) + `,"submissionError":` + quoted(text) + `,"retryCount":1,"traceparent":` + trace + `}`,
	}
}

// quoted is a text in JSON.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// eventOf is the only event of a claim, as it is sent.
func eventOf(t *testing.T, cfg config.Config, claim string) string {
	t.Helper()
	s, err := sqlite.OpenReadOnly(t.Context(), cfg.SQLitePath())
	check.Must(t, err)
	records, err := s.Claim(t.Context(), claim)
	if err := errors.Join(err, s.Close()); err != nil || len(records) != 1 {
		t.Fatalf("%d records of %s, %v", len(records), claim, err)
	}
	event, err := events.FromRecord(&records[0])
	check.Must(t, err)
	return string(event.JSON)
}

// byKey are the spans by the key of their job.
func byKey(t *testing.T, spans []collectortest.Span) map[string]collectortest.Span {
	t.Helper()
	found := map[string]collectortest.Span{}
	for _, s := range spans {
		key := s.Attributes["messaging.message.id"]
		if _, twice := found[key]; twice {
			t.Errorf("job %s has two spans", key)
		}
		found[key] = s
	}
	return found
}

func TestEachJobIsOneSpanWithItsDecision(t *testing.T) {
	for protocol, startCollector := range map[string]func(*testing.T) *collectortest.Collector{
		"grpc": collectortest.StartGRPC, "http/protobuf": collectortest.StartHTTP,
	} {
		t.Run(protocol, func(t *testing.T) {
			collector := startCollector(t)
			traceTo(t, collector, protocol)
			g, address := gateway(t)
			invalid := tracedJob("nobody", "TIMEOUT", `"`+passed+`"`)
			keys := g.Add(tracedJob("CLM-001-1", "TIMEOUT", `"`+passed+`"`), tracedJob("CLM-001-2", "INSURANCE_EXPIRED", "null"), invalid)
			keys = append(keys, g.Add(gatewaytest.Job{
				Type: "record-retry-outcome", ElementID: "Record", Variables: `{"claimId":"CLM-001-3","outcome":"SUBMITTED","traceparent":"` + passed + `"}`,
			})...)
			began := time.Now()
			r := start(t, settings(t, address))
			spans := byKey(t, collector.Await(t, 4))
			r.stopped()
			documentation, err := os.ReadFile("../../docs/tracing.md")
			check.Must(t, err)
			for _, span := range spans {
				for name := range span.Attributes {
					check.Contains(t, string(documentation), "`"+name+"`")
				}
			}
			for i, want := range []map[string]string{
				{
					"retry.decision": "RETRY", "retry.classification": "TRANSIENT", "retry.attempt": "2", "retry.max": "5",
					"retry.policy": "tiss", "retry.rule_id": "transient.TIMEOUT", "retry.settled_by": "BACKOFF",
					"retry.answer": "complete", "messaging.destination.name": "analyze-retry",
				},
				{
					"retry.decision": "PERMANENT_ERROR", "retry.classification": "PERMANENT", "retry.attempt": "1",
					"retry.rule_id": "permanent.INSURANCE_EXPIRED", "retry.backoff_minutes": "0", "retry.answer": "throw_error",
				},
				{"retry.decision": "REJECTED", "retry.answer": "fail", "error.type": "incident"},
				{
					"retry.decision": "SUBMITTED", "retry.submissions": "1", "retry.attempt": "0", "retry.answer": "complete",
					"messaging.destination.name": "record-retry-outcome", "zeebe.element.id": "Record",
				},
			} {
				span, is := spans[fmt.Sprint(keys[i])]
				if !is {
					t.Fatalf("no span of job %d", keys[i])
				}
				want["messaging.system"], want["messaging.operation.type"], want["messaging.client.id"] = "zeebe", "process", "test"
				want["retry.result"], want["retry.repeated"], want["zeebe.job.retries"] = "accepted", "false", "3"
				for name, value := range want {
					check.Same(t, value, span.Attributes[name], "job %d: %s", i, name)
				}
				if name := "process " + span.Attributes["messaging.destination.name"]; span.Name != name || span.Kind != "CONSUMER" || span.Parent != "" {
					t.Errorf("job %d: span %s of kind %s below %q, want a CONSUMER that is a root", i, span.Name, span.Kind, span.Parent)
				}
				linked := i != 1
				if got := strings.Join(span.Links, " "); linked && got != passedTrace+"-"+passedSpan || !linked && got != "" {
					t.Errorf("job %d is linked to %q", i, got)
				}
				if span.Start.Before(began) || span.End.Before(span.Start) || span.End.After(time.Now()) {
					t.Errorf("job %d is from %v to %v", i, span.Start, span.End)
				}
				if failed := i == 2; failed != (span.Error != "") || failed && !strings.Contains(span.Error, "claimId is ") {
					t.Errorf("job %d has the error %q", i, span.Error)
				}
			}
			first := spans[fmt.Sprint(keys[0])]
			if first.Attributes["messaging.message.conversation_id"] != "77" || first.Attributes["zeebe.process.id"] != "SUB_06" {
				t.Errorf("the process is told as %v", first.Attributes)
			}
			if first.Resource["service.name"] != "analyze-retry" || first.Resource["service.version"] != "test" {
				t.Errorf("the service is told as %v", first.Resource)
			}
		})
	}
}

func TestASpanHoldsNothingOfPatientsAndNoClaim(t *testing.T) {
	collector := collectortest.StartGRPC(t)
	traceTo(t, collector, "grpc")
	canaries := redacttest.Take(6, 40)
	g, address := gateway(t)
	for i, c := range canaries {
		claim := fmt.Sprintf("CLM-001-%d", 900000+i)
		text := quoted(c.Text)
		g.Add(tracedJob(claim, c.Text, `"`+passed+`"`), tracedJob(c.Text, "TIMEOUT", text))
		g.Add(gatewaytest.Job{Type: "analyze-retry", Variables: `{"claimId":"` + claim + `","submissionError":[` + text + `],"retryUntil":` + text + `}`})
		g.Add(gatewaytest.Job{Type: "record-retry-outcome", Variables: `{"claimId":"` + claim + `","outcome":"REDRIVEN",` +
			`"justification":` + text + `,"decidedBy":"Maria","traceparent":` + text + `}`})
	}
	start(t, settings(t, address))
	spans := collector.Await(t, 4*len(canaries))
	finder := redacttest.NewFinder(canaries...)
	for _, s := range spans {
		var told strings.Builder
		for name, value := range s.Attributes {
			if name != "messaging.message.id" { // a number, which may be anything
				fmt.Fprintln(&told, name, value)
			}
		}
		fmt.Fprintln(&told, s.Name, s.Error, s.Resource)
		if found := finder.Find([]byte(told.String())); found != nil {
			t.Errorf("a span tells %v:\n%s", found, &told)
		}
	}
	for _, word := range []string{"CLM-001-9", "Maria", "submissionError\"", "originalError"} {
		if strings.Contains(collector.Sent(), word) {
			t.Errorf("the collector was sent %s", word)
		}
	}
}

func TestATraceThatCannotBeReadIsIgnored(t *testing.T) {
	collector := collectortest.StartHTTP(t)
	traceTo(t, collector, "http/protobuf")
	g, address := gateway(t)
	bad := []string{
		`null`, `""`, `7`, `{"a":1}`, `["` + passed + `"]`, `"nothing of the kind"`, `"` + strings.ToUpper(passed) + `"`, `"` + passed + `-more"`,
		`"00-00000000000000000000000000000000-` + passedSpan + `-01"`, `"ff-` + passed[3:] + `"`, `" ` + passed + `"`,
	}
	for i, trace := range bad {
		g.Add(tracedJob(fmt.Sprintf("CLM-001-%d", i), "TIMEOUT", trace))
	}
	cfg := settings(t, address)
	r := start(t, cfg)
	await(t, g, func(c gatewaytest.Counts) bool { return c.Completed == len(bad) })
	for _, s := range collector.Await(t, len(bad)) {
		if s.Links != nil || s.Error != "" {
			t.Errorf("a span is linked to %v, with the error %q", s.Links, s.Error)
		}
	}
	r.stopped()
}

func TestEventsCarryTheTraceOn(t *testing.T) {
	inJSON := func(traceparent string) string { return `"traceparent":"` + traceparent + `"` }
	for _, c := range []struct {
		what, sampler string
		on            bool
		model         string
		want          func(collectortest.Span) string
	}{
		{"the job's own span", "", true, `"` + passed + `"`, func(s collectortest.Span) string { return inJSON(s.Traceparent()) }},
		{"the job's own span without a model's", "", true, `null`, func(s collectortest.Span) string { return inJSON(s.Traceparent()) }},
		{"the model's where the span is not sampled", "always_off", true, `"` + passed + `"`, func(collectortest.Span) string { return inJSON(passed) }},
		{"the model's where tracing is off", "", false, `"` + passed + `"`, func(collectortest.Span) string { return inJSON(passed) }},
		{"none where there is none", "", false, `"x"`, func(collectortest.Span) string { return "" }},
		{"none where it is not sampled", "always_off", true, `null`, func(collectortest.Span) string { return "" }},
	} {
		t.Run(c.what, func(t *testing.T) {
			collector := collectortest.StartGRPC(t)
			if c.on {
				traceTo(t, collector, "grpc")
			}
			t.Setenv("OTEL_TRACES_SAMPLER", c.sampler)
			g, address := gateway(t)
			g.Add(tracedJob("CLM-001-1", "TIMEOUT", c.model))
			cfg := settings(t, address)
			r := start(t, cfg)
			await(t, g, func(c gatewaytest.Counts) bool { return c.Completed == 1 })
			r.stopped()
			var span collectortest.Span
			if c.on && c.sampler == "" {
				span = collector.Await(t, 1)[0]
			}
			event, want := eventOf(t, cfg, "CLM-001-1"), c.want(span)
			if !strings.Contains(event, want) || want == "" && strings.Contains(event, "traceparent") {
				t.Errorf("want %q in %s", want, event)
			}
		})
	}
}

// The answer of the first delivery is lost. The second has a span of its own, but the decision stays in its trace.
func TestADecisionThatIsRepeatedStaysInItsTrace(t *testing.T) {
	collector := collectortest.StartGRPC(t)
	traceTo(t, collector, "grpc")
	g, address := gateway(t)
	g.Inject(gatewaytest.CompleteJob, gatewaytest.Fault{Code: codes.FailedPrecondition})
	g.Add(tracedJob("CLM-001-1", "TIMEOUT", `"`+passed+`"`))
	cfg := settings(t, address)
	cfg.JobTimeout = 2 * time.Second
	r := start(t, cfg)
	await(t, g, func(c gatewaytest.Counts) bool { return c.Completed == 1 })
	spans := collector.Await(t, 2)
	r.stopped()
	first, second := spans[0].Attributes, spans[1].Attributes
	got := [][]string{{first["retry.repeated"], first["retry.result"]}, {second["retry.repeated"], second["retry.result"]}}
	check.Same(t, [][]string{{"false", "unknown"}, {"true", "accepted"}}, got, "repeated and result")
	check.Contains(t, eventOf(t, cfg, "CLM-001-1"), spans[0].Traceparent())
}

func TestWithTracingOffNobodyIsDialled(t *testing.T) {
	collector := collectortest.StartGRPC(t)
	traceTo(t, collector, "grpc")
	t.Setenv("OTEL_TRACES_EXPORTER", "none")
	g, address := gateway(t)
	g.Add(jobs(3, "TIMEOUT")...)
	r := start(t, settings(t, address))
	await(t, g, func(c gatewaytest.Counts) bool { return c.Completed == 3 })
	r.stopped()
	if n := collector.Connections(); n != 0 || r.logged("tracing_on") != 0 {
		t.Errorf("the collector was dialled %d times; tracing is on by the log %d times", n, r.logged("tracing_on"))
	}
}

// The bound is generous, and still less than what the exporter waits for a collector: 10 s.
func TestAnAbsentOrHungCollectorBlocksNeitherJobsNorStops(t *testing.T) {
	for protocol, startCollector := range map[string]func(*testing.T) *collectortest.Collector{
		"grpc": collectortest.StartGRPC, "http/protobuf": collectortest.StartHTTP,
	} {
		for _, away := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s away %t", protocol, away), func(t *testing.T) {
				collector := startCollector(t)
				collector.Hang()
				traceTo(t, collector, protocol)
				if away {
					t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+freeAddress(t))
				}
				t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "16")
				t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
				g, address := gateway(t)
				g.Add(jobs(100, "TIMEOUT")...)
				r := start(t, settings(t, address))
				await(t, g, func(c gatewaytest.Counts) bool { return c.Completed == 100 })
				check.Await(t, "the collector is sent something", func() bool { return away || collector.Hanging() > 0 })
				r.stop()
				check.Must(t, r.awaitStop()) // a collector that fails is no reason to end badly
				if r.logs.FilterMessage("traces_not_flushed").Len()+r.logs.FilterMessage("traces_not_taken").Len() == 0 {
					t.Error("no line says that spans were lost")
				}
			})
		}
	}
}

// A collector may repeat a header in what it answers.
func TestTheHeadersForTheCollectorReachItAndNoLog(t *testing.T) {
	for protocol, startCollector := range map[string]func(*testing.T) *collectortest.Collector{
		"grpc": collectortest.StartGRPC, "http/protobuf": collectortest.StartHTTP,
	} {
		t.Run(protocol, func(t *testing.T) {
			const secret = "Bearer c4n4ry 7oken"
			collector := startCollector(t)
			collector.Refuse("who is " + secret + "?")
			traceTo(t, collector, protocol)
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20c4n4ry%207oken")
			g, address := gateway(t)
			g.Add(jobs(30, "TIMEOUT")...)
			r := start(t, settings(t, address))
			r.awaitLog("traces_not_taken")
			await(t, g, func(c gatewaytest.Counts) bool { return c.Completed == 30 })
			g.Add(jobs(30, "TIMEOUT")...)
			await(t, g, func(c gatewaytest.Counts) bool { return c.Completed == 60 })
			r.stopped()
			check.Same(t, 1, r.logs.FilterMessage("traces_not_taken").Len(), "lines within a minute")
			if len(collector.Headers()) < 2 || collector.Headers()[0].Get("Authorization") != secret {
				t.Errorf("%d requests came, with %v", len(collector.Headers()), collector.Headers())
			}
			text := fmt.Sprint(r.logs.FilterMessage("traces_not_taken").All()[0].ContextMap())
			if !strings.Contains(text, "who is ***?") || strings.Contains(fmt.Sprint(r.logs.All()), "c4n4ry") {
				t.Errorf("logged %s", text)
			}
		})
	}
}

func TestAFaultyVariableOfOpenTelemetryIsAFaultOfTheConfiguration(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317")
	t.Setenv("OTEL_TRACES_SAMPLER", "sometimes")
	_, err := app.New(t.Context(), settings(t, "127.0.0.1:1"), zap.NewNop(), "test")
	faults, _ := errors.AsType[config.FaultsError](err)
	if len(faults) != 2 || !strings.HasPrefix(faults[0], "OTEL_EXPORTER_OTLP_ENDPOINT") || !strings.HasPrefix(faults[1], "OTEL_TRACES_SAMPLER") {
		t.Errorf("New = %v", err)
	}
}
