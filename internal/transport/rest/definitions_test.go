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
	g.Assign("norte", "sul")
	c := dial(t, transport.Config{Scheme: transport.HTTP, Address: "gateway", Dial: g.PipeREST()})
	for _, model := range []struct{ tenant, xml string }{
		{"norte", `<bpmn:process id="retry-claim" x="1">`},
		{"norte", `<bpmn:process id="retry-claim" x="2">`},
		{"sul", `<bpmn:process id="retry-claim" x="3">`},
		{"norte", `<bpmn:process id="another">`},
	} {
		_, err := c.Deploy(t.Context(), model.tenant, []transport.Resource{{Name: "a.bpmn", Content: []byte(model.xml)}})
		check.Must(t, err)
	}
	got, err := c.Definition(t.Context(), "norte", "retry-claim")
	check.Must(t, err)
	check.Same(t, transport.Definition{Version: 2, XML: []byte(`<bpmn:process id="retry-claim" x="2">`)}, got, "definition")
	_, err = c.Definition(t.Context(), "sul", "another")
	check.Same(t, codes.NotFound, transport.Code(err), "code of %v", err)
}

func TestDeletedVersionIsPassedOver(t *testing.T) {
	c := answering(t, 200, plainJSON, `{"items":[{"version":3,"state":"DELETED","processDefinitionKey":"3"}]}`)
	_, err := c.Definition(t.Context(), "", "p")
	check.Same(t, codes.NotFound, transport.Code(err), "code of %v", err)
}
