package main

import (
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

func TestATokenNeedsNoDirectoryThatCanBeWritten(t *testing.T) {
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"token-1","token_type":"Bearer","expires_in":3600}`))
	}))
	t.Cleanup(issuer.Close)
	for name, home := range map[string]string{"a HOME that cannot be written": "HOME=/proc", "no HOME": "HOME="} {
		t.Run(name, func(t *testing.T) {
			g, setting := gateway(t)
			addJob(g, 1)
			p := start(t, nil, setting, home, "TMPDIR=/proc", "ZEEBE_CLIENT_ID=worker", "ZEEBE_CLIENT_SECRET="+canary, "ZEEBE_TOKEN_AUDIENCE=zeebe-api",
				"ZEEBE_AUTHORIZATION_SERVER_URL="+issuer.URL)
			p.await("retry_scheduled")
			check.Must(t, g.Wait(t.Context(), func(c gatewaytest.Counts) bool { return c.Completed == 1 }))
			for _, call := range g.Calls(gatewaytest.CompleteJob) {
				check.Same(t, "Bearer token-1", call.Authorization, "authorization of the answer")
			}
			p.signal(syscall.SIGTERM)
			check.Same(t, "", p.end(), "how it ended: %s", p.stderr.String())
		})
	}
}
