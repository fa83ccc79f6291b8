package rest

import (
	"testing"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
	"hospital.example/analyze-retry/internal/transport"
)

func TestTheLatestDefinitionOfAProcessIsRead(t *testing.T) {
	g := gatewaytest.New()
	t.Cleanup(g.Close)
	c, err := Dial(transport.Config{Scheme: transport.HTTP, Address: "127.0.0.1:1", Dial: g.PipeREST()})
	check.Must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = c.Definition(t.Context(), "<default>", "SUB_06")
	check.Same(t, codes.NotFound, transport.Code(err), "code of %v", err)
	_, err = c.Deploy(t.Context(), "", []transport.Resource{{Name: "SUB_06", Content: []byte("<bpmn/>")}})
	check.Must(t, err)
	got, err := c.Definition(t.Context(), "<default>", "SUB_06")
	check.Must(t, err)
	check.Same(t, transport.Definition{Version: 1, XML: []byte("<bpmn/>")}, got, "definition")
}
