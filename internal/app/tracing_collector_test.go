package app_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/collectortest"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

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
				began := time.Now()
				check.Must(t, r.awaitStop()) // a collector that fails is no reason to end badly
				if took := time.Since(began); took > 7*time.Second {
					t.Errorf("the stop took %v", took)
				}
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
