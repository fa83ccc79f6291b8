package gatewaytest

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Assign turns multi-tenancy on, with one tenant that is assigned to the worker's credentials.
func (g *Gateway) Assign(tenant string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.assigned = tenant
}

// checkTenant refuses a request for another tenant as the gateway does; method is the name in its text.
func (g *Gateway) checkTenant(method, tenant string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case tenant == g.assigned || g.assigned == "" && (tenant == "" || tenant == "<default>"):
		return nil
	case g.assigned == "":
		return status.Errorf(codes.InvalidArgument, "Expected to handle gRPC request %s with tenant identifier '%s', but multi-tenancy is disabled", method, tenant)
	default:
		return status.Errorf(codes.PermissionDenied, "Expected to handle gRPC request %s with tenant identifier '%s', "+
			"but tenant is not authorized to perform this request", method, tenant)
	}
}
