package zeebe

import (
	"testing"
	"time"

	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

func TestAnIdleWorkerIsConnectedAtOnce(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.run(Options{})
		if !r.worker.Connected() {
			r.Error("not connected although the gateway is there")
		}
	})
}

func TestALostGatewayIsLoggedOnceAndOnceWhenItIsBack(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.run(Options{})
		r.gateway.Inject(gatewaytest.ActivateJobs, gatewaytest.Fault{Times: -1, Code: codes.Unavailable})
		r.advance(5 * time.Minute)
		if r.worker.Connected() {
			r.Error("connected although no poll comes through")
		}
		if n := r.logged(zapcore.WarnLevel, "gateway_lost"); n != 1 || r.logs.Len() != 2 {
			r.Errorf("logged as lost %d times: %v", n, r.logs.All())
		}
		if code := r.logs.FilterMessageSnippet("gateway_lost").All()[0].ContextMap()["code"]; code != "Unavailable" {
			r.Errorf("lost with code %v", code)
		}
		r.gateway.Heal()
		r.advance(pollPauseMax)
		back := r.logs.FilterMessage("gateway_back").All()
		if len(back) != 1 || r.logs.Len() != 3 || !r.worker.Connected() {
			r.Fatalf("logged as back %d times: %v", len(back), r.logs.All())
		}
		if away := back[0].ContextMap()["awayFor"].(time.Duration); away < 4*time.Minute || away > 6*time.Minute {
			r.Errorf("away for %v, want 5 min", away)
		}
	})
}

func TestARefusalNowAndThenIsNotALoss(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.run(Options{MaxJobsActive: 1})
		r.add(20)
		for range 20 {
			r.gateway.Inject(gatewaytest.ActivateJobs, gatewaytest.Fault{Times: 2, Code: codes.ResourceExhausted})
			r.gateway.Inject(gatewaytest.ActivateJobs, gatewaytest.Fault{Times: 2, Delay: time.Millisecond})
			if !r.worker.Connected() {
				r.Fatal("not connected for being refused now and then")
			}
			r.advance(500 * time.Millisecond)
		}
		r.wantCounts(gatewaytest.Counts{Completed: 20})
		if r.logs.Len() != 1 {
			r.Errorf("log has %v", r.logs.All())
		}
	})
}

func TestAWorkerThatStartsBeforeTheGatewaySaysSo(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(gatewaytest.ActivateJobs, gatewaytest.Fault{Times: -1, Code: codes.PermissionDenied})
		r.run(Options{})
		r.advance(time.Minute)
		if r.logged(zapcore.WarnLevel, "gateway_lost") != 1 || r.logs.Len() != 1 {
			r.Errorf("log has %v", r.logs.All())
		}
	})
}
