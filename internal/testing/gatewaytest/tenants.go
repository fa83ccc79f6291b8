package gatewaytest

import (
	"slices"
	"strings"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// activateTenantFilter is a field of Camunda 8.9 for which the generated types have no name.
const activateTenantFilter protowire.Number = 8

// Assign turns multi-tenancy on and sets the tenants that the cluster has assigned to the worker's credentials.
func (g *Gateway) Assign(tenants ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.assigned, g.named = append([]string{}, tenants...), true
}

// HideTenants makes the gateway refuse tenants without naming those that are assigned, as those before 8.8 do.
func (g *Gateway) HideTenants() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.named = false
}

// checkTenants refuses a request for tenants as the gateway does; method is the name in its text.
func (g *Gateway) checkTenants(method string, tenants []string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	foreign := func(tenant string) bool { return !slices.Contains(g.assigned, tenant) }
	switch {
	case g.assigned == nil:
		if slices.ContainsFunc(tenants, func(tenant string) bool { return tenant != "" && tenant != "<default>" }) {
			return status.Errorf(codes.InvalidArgument, "Expected to handle gRPC request %s with tenant identifier '%s', but multi-tenancy is disabled", method, tenants[0])
		}
		return nil
	case len(tenants) == 0 || tenants[0] == "":
		return status.Errorf(codes.InvalidArgument, "Expected to handle gRPC request %s with tenant identifiers '[]', but no tenant identifiers were provided.", method)
	case !slices.ContainsFunc(tenants, foreign):
		return nil
	case g.named:
		return status.Errorf(codes.PermissionDenied, "Command 'ACTIVATE' rejected with code 'UNAUTHORIZED': Expected to activate job batch for tenants '[%s]', "+
			"but user is not authorized. Authorized tenants are '[%s]'", strings.Join(tenants, ", "), strings.Join(g.assigned, ", "))
	default:
		foreigner := tenants[slices.IndexFunc(tenants, foreign)]
		return status.Errorf(codes.PermissionDenied, "Expected to handle gRPC request %s with tenant identifier '%s', "+
			"but tenant is not authorized to perform this request", method, foreigner)
	}
}

// checkPoll refuses a poll for tenants that it cannot have.
func (g *Gateway) checkPoll(r *pb.ActivateJobsRequest) error {
	if numberOf(r, activateTenantFilter) == 0 {
		return g.checkTenants("ActivateJobs", r.TenantIds)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.assigned == nil {
		return status.Error(codes.InvalidArgument, "Expected to handle request Activate Jobs with ASSIGNED tenant filter, but multi-tenancy is disabled")
	}
	return nil
}

// serves reports whether a poll may get a job. The caller holds the mutex.
func (g *Gateway) serves(j *record, r *pb.ActivateJobsRequest) bool {
	switch {
	case numberOf(r, activateTenantFilter) == 1:
		return slices.Contains(g.assigned, j.Tenant)
	case g.assigned == nil:
		return true
	default:
		return slices.Contains(r.TenantIds, j.Tenant)
	}
}

func setNumber(m proto.Message, field protowire.Number, value uint64) {
	r := m.ProtoReflect()
	r.SetUnknown(protowire.AppendVarint(protowire.AppendTag(r.GetUnknown(), field, protowire.VarintType), value))
}

// numberOf returns the value of a field, 0 where it is absent.
func numberOf(m proto.Message, field protowire.Number) (value uint64) {
	for rest := m.ProtoReflect().GetUnknown(); len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		size := protowire.ConsumeFieldValue(number, kind, rest[n:])
		if number == field {
			value, _ = protowire.ConsumeVarint(rest[n:])
		}
		rest = rest[n+size:]
	}
	return value
}
