package modellint

import (
	"encoding/xml"
	"fmt"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
)

// The fixes are XML with the prefixes that Camunda Modeler writes.

// attribute returns a text as it stands in quotes in XML.
func attribute(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder takes everything
	return b.String()
}

// outputs returns an ioMapping of outputs: name=source each.
func outputs(mappings ...mapping) string { return ioMapping("output", mappings) }

func ioMapping(kind string, mappings []mapping) string {
	var b strings.Builder
	b.WriteString("<zeebe:ioMapping>\n")
	for _, m := range mappings {
		fmt.Fprintf(&b, "  <zeebe:%s source=\"%s\" target=\"%s\" />\n", kind, attribute(m.source), attribute(m.target))
	}
	b.WriteString("</zeebe:ioMapping>")
	return b.String()
}

// same returns mappings of variables to themselves.
func same(variables []string) (mappings []mapping) {
	for _, v := range variables {
		mappings = append(mappings, mapping{source: "=" + v, target: v})
	}
	return mappings
}

// cleared returns mappings that set variables to null.
func cleared(variables []string) (mappings []mapping) {
	for _, v := range variables {
		mappings = append(mappings, mapping{source: "=null", target: v})
	}
	return mappings
}

// boundary returns an error event with its mappings, for an activity.
func boundary(host *node, code string, mappings []mapping) string {
	words := map[string]string{retry.CodeMaxRetriesExceeded: "MaxRetriesExceeded", retry.CodePermanentError: "PermanentError"}
	return fmt.Sprintf(`<bpmn:error id="Error_%[1]s" name="%[2]s" errorCode="%[2]s" />

<bpmn:boundaryEvent id="BoundaryEvent_%[1]s" attachedToRef="%[3]s">
  <bpmn:extensionElements>
%[4]s
  </bpmn:extensionElements>
  <bpmn:errorEventDefinition id="ErrorEventDefinition_%[1]s" errorRef="Error_%[1]s" />
</bpmn:boundaryEvent>`, words[code], code, attribute(host.id), indented(outputs(mappings...), "    "))
}

func indented(text, indent string) string {
	return indent + strings.ReplaceAll(text, "\n", "\n"+indent)
}

// timerFix returns the definition of a timer that waits as decided.
func timerFix(feel string) string {
	return `<bpmn:timeDuration xsi:type="bpmn:tFormalExpression">` + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(feel) + `</bpmn:timeDuration>`
}
