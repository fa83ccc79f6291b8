package app_test

import (
	"testing"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/claims/redrive"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

func TestPollsDeploymentsAndOrdersAreForTheTenant(t *testing.T) {
	t.Parallel()
	g, address := gateway(t)
	g.Assign("sul")
	cfg := settings(t, address)
	cfg.Tenant = "sul"
	start(t, cfg)
	g.Add(jobs(1, "timeout")...)
	await(t, g, func(c enginetest.Counts) bool { return c.Completed == 1 })
	_, err := app.Deploy(t.Context(), cfg, bpmn.Models())
	check.Must(t, err)
	redriver, err := app.NewRedriver(cfg)
	check.Must(t, err)
	check.Must(t, redriver.Send(t.Context(), "CLM-001-1", redrive.Order{}), redriver.Close())
	for _, call := range g.Calls(enginetest.ActivateJobs, enginetest.DeployResource, enginetest.PublishMessage) {
		switch request := call.Request.(type) {
		case *pb.ActivateJobsRequest:
			check.Same(t, []string{"sul"}, request.TenantIds, "tenants of a poll")
		case interface{ GetTenantId() string }:
			check.Same(t, "sul", request.GetTenantId(), "tenant of %T", request)
		}
	}
}
