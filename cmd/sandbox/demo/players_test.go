package demo

import (
	"context"
	"testing"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
)

// gateway takes an operator's calls, all but one.
type gateway struct {
	pb.GatewayClient
	refuses string
	calls   []string
}

func (g *gateway) take(call string) error {
	g.calls = append(g.calls, call)
	if call == g.refuses {
		return status.Error(codes.InvalidArgument, call)
	}
	return nil
}

func (g *gateway) SetVariables(context.Context, *pb.SetVariablesRequest, ...grpc.CallOption) (*pb.SetVariablesResponse, error) {
	return nil, g.take("variables")
}

func (g *gateway) UpdateJobRetries(context.Context, *pb.UpdateJobRetriesRequest, ...grpc.CallOption) (*pb.UpdateJobRetriesResponse, error) {
	return nil, g.take("retries")
}

func (g *gateway) ResolveIncident(context.Context, *pb.ResolveIncidentRequest, ...grpc.CallOption) (*pb.ResolveIncidentResponse, error) {
	return nil, g.take("resolve")
}

func TestAnOperatorStopsAtTheFirstCallThatFails(t *testing.T) {
	for refused, want := range map[string][]string{
		"variables": {"variables"},
		"retries":   {"variables", "retries"},
		"resolve":   {"variables", "retries", "resolve"},
		"":          {"variables", "retries", "resolve"},
	} {
		t.Run("refused: "+refused, func(t *testing.T) {
			g := &gateway{refuses: refused}
			p := &Play{Gateway: g, taken: map[int64]bool{}}
			c := newCast(parse(t, "GUIA-1,\"TIMEOUT\nOK\",,operator claimId=CLM-1-1,SUBMITTED\n"))
			err := p.operate(t.Context(), c.roles[0], history.OpenIncident{Key: 1})
			if (err == nil) != (refused == "") {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(want, g.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}
