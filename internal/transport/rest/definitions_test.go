package rest

import (
	"testing"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
	"hospital.example/analyze-retry/internal/transport"
)

func TestLatestVersionOfAProcessIsRead(t *testing.T) {
	g := gatewaytest.New()
	t.Cleanup(g.Close)
	g.Assign("norte")
	c := dial(t, transport.Config{Scheme: transport.HTTP, Address: "gateway", Dial: g.PipeREST()})
	for _, xml := range []string{
		`<bpmn:process id="retry-claim" x="1">`, `<bpmn:process id="retry-claim" x="2">`, `<bpmn:process id="another">`,
	} {
		_, err := c.Deploy(t.Context(), "norte", []transport.Resource{{Name: "a.bpmn", Content: []byte(xml)}})
		check.Must(t, err)
	}
	got, err := c.Definition(t.Context(), "norte", "retry-claim")
	check.Must(t, err)
	check.Same(t, transport.Definition{Version: 2, XML: []byte(`<bpmn:process id="retry-claim" x="2">`)}, got, "definition")
	_, err = c.Definition(t.Context(), "sul", "retry-claim")
	check.Same(t, codes.NotFound, transport.Code(err), "code of %v", err)
}

func TestDeletedVersionIsPassedOver(t *testing.T) {
	c := answering(t, 200, plainJSON, `{"items":[{"version":3,"state":"DELETED","processDefinitionKey":"3"}]}`)
	_, err := c.Definition(t.Context(), "", "p")
	check.Same(t, codes.NotFound, transport.Code(err), "code of %v", err)
}
