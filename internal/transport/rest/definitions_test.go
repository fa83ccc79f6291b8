package rest

import (
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
	"hospital.example/analyze-retry/internal/transport"
)

func TestLatestVersionOfAProcessIsRead(t *testing.T) {
	g := enginetest.New()
	t.Cleanup(g.Close)
	g.Assign("norte")
	c := dial(t, transport.Config{Scheme: transport.HTTP, Address: "gateway", Dial: g.PipeREST()})
	model := func(id, name string) []byte {
		return fmt.Appendf(nil, `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">`+
			`<process id="%s" name="%s" isExecutable="true"><startEvent id="S"/></process></definitions>`, id, name)
	}
	for _, content := range [][]byte{model("retry-claim", "1"), model("retry-claim", "2"), model("another", "")} {
		_, err := c.Deploy(t.Context(), "norte", []transport.Resource{{Name: "a.bpmn", Content: content}})
		check.Must(t, err)
	}
	got, err := c.Definition(t.Context(), "norte", "retry-claim")
	check.Must(t, err)
	check.Same(t, Definition{Version: 2, XML: model("retry-claim", "2")}, got, "definition")
	_, err = c.Definition(t.Context(), "norte", "none")
	check.Same(t, codes.NotFound, transport.Code(err), "code of %v", err)
}

func TestDeletedVersionIsPassedOver(t *testing.T) {
	c := answering(t, 200, plainJSON, `{"items":[{"version":3,"state":"DELETED","processDefinitionKey":"3"}]}`)
	_, err := c.Definition(t.Context(), "", "p")
	check.Same(t, codes.NotFound, transport.Code(err), "code of %v", err)
}
