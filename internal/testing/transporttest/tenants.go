package transporttest

import (
	"testing"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
	"hospital.example/analyze-retry/internal/transport"
)

func onlyJobsOfTheTenantsAskedForCome(t *testing.T, p Protocol) {
	t.Helper()
	r := p.connect(t, transport.Config{})
	r.gateway.Assign("<default>", "norte", "sul")
	for _, tenant := range []string{"", "norte", "sul", "leste"} {
		r.gateway.Add(gatewaytest.Job{Type: jobType, Variables: `{}`, Tenant: tenant})
	}
	for _, test := range []struct{ asked, come []string }{
		{[]string{"<default>"}, []string{"<default>"}},
		{[]string{"norte", "sul"}, []string{"norte", "sul"}},
		{nil, []string{"<default>", "norte", "sul"}}, // those that are assigned
	} {
		poll := poll
		poll.Tenants = test.asked
		var come []string
		for _, j := range r.activate(poll) {
			come = append(come, j.Tenant)
			check.Must(t, r.client.Answer(t.Context(), j, job.Release("")))
		}
		check.Same(t, test.come, come, "tenants of jobs for %v", test.asked)
	}
}

func aTenantThatIsNotAssignedIsDenied(t *testing.T, p Protocol) {
	t.Helper()
	r := p.connect(t, transport.Config{})
	r.gateway.Assign("norte")
	foreign := poll
	foreign.Tenants = []string{"norte", "leste"}
	for name, err := range map[string]error{
		"poll":    r.client.Activate(t.Context(), foreign, func([]job.Job) {}),
		"message": r.client.PublishMessage(t.Context(), transport.Message{Name: "m", Tenant: "leste"}),
		"deployment": func() error {
			_, err := r.client.Deploy(t.Context(), "leste", []transport.Resource{{Name: "a.bpmn"}})
			return err
		}(),
	} {
		check.Same(t, codes.PermissionDenied, transport.Code(err), "code of the %s: %v", name, err)
	}
}

func aClusterShowsItsTenancy(t *testing.T, p Protocol) {
	t.Helper()
	r := p.connect(t, transport.Config{})
	want := func(want transport.Tenancy) {
		t.Helper()
		got, err := transport.ProbeTenancy(t.Context(), r.client)
		check.Must(t, err)
		check.Same(t, want, got, "tenancy")
	}
	want(transport.Tenancy{})
	r.gateway.Assign("sul", "norte")
	want(transport.Tenancy{On: true, Assigned: []string{"norte", "sul"}})
	r.gateway.Assign()
	want(transport.Tenancy{On: true, Assigned: []string{}})
	r.gateway.HideTenants()
	want(transport.Tenancy{On: true})
	r.gateway.Inject(gatewaytest.ActivateJobs, gatewaytest.Fault{Code: codes.Unavailable})
	_, err := transport.ProbeTenancy(t.Context(), r.client)
	check.Same(t, codes.Unavailable, transport.Code(err), "code of %v", err)
}
