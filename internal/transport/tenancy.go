package transport

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/job"
)

// Tenancy is what a cluster shows about its tenants.
type Tenancy struct {
	// On reports whether multi-tenancy is on.
	On bool
	// Assigned are the tenants that the worker's credentials may use, sorted; nil where the cluster does not show them, which
	// it does from 8.8 on.
	Assigned []string
}

// Unasked returns the tenants that are assigned and not among those that are asked for.
func (t Tenancy) Unasked(asked []string) []string {
	return slices.DeleteFunc(slices.Clone(t.Assigned), func(tenant string) bool { return slices.Contains(asked, tenant) })
}

const (
	// probeTenant and probeType are names that no tenant and no job type has.
	probeTenant = "analyze-retry.none"
	probeType   = "analyze-retry:none"
)

// authorizedTenants matches the list in the text of a poll that Camunda 8.8 or later refuses.
var authorizedTenants = regexp.MustCompile(`Authorized tenants are '\[([^\]]*)\]'`)

// ProbePoll polls for the jobs of these tenants, of a type that no job has. It shows whether such polls are allowed.
func ProbePoll(ctx context.Context, c Client, tenants []string) error {
	return c.Activate(ctx, Poll{
		JobType: probeType, Worker: "analyze-retry", Max: 1, Wait: -time.Millisecond, Lock: time.Second, Tenants: tenants,
	}, func([]job.Job) {})
}

// ProbeTenancy finds out what a cluster shows about its tenants, by a poll that cannot get a job: for a tenant that does not
// exist. Without multi-tenancy the poll is invalid, with it the poll is refused.
func ProbeTenancy(ctx context.Context, c Client) (Tenancy, error) {
	err := ProbePoll(ctx, c, []string{probeTenant})
	switch text := status.Convert(err).Message(); {
	case err == nil: // an open cluster refuses no tenant
		return Tenancy{On: true}, nil
	case Code(err) == codes.InvalidArgument && strings.Contains(text, "tenan"):
		return Tenancy{}, nil
	case Code(err) == codes.PermissionDenied && strings.Contains(text, "tenan"):
		t := Tenancy{On: true}
		if list := authorizedTenants.FindStringSubmatch(text); list != nil {
			t.Assigned = slices.DeleteFunc(strings.Split(list[1], ", "), func(tenant string) bool { return tenant == "" })
			slices.Sort(t.Assigned)
		}
		return t, nil
	default:
		return Tenancy{}, fmt.Errorf("ask the gateway about tenants: %w", err)
	}
}
