package policy_test

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"text/template"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

// decisionTable is bpmn/classify-error.dmn: the words of a policy as a decision table. The first row that matches decides, as in
// the file of the policy.
var decisionTable = template.Must(template.New("classify-error.dmn").Funcs(template.FuncMap{"holds": holds}).Parse(
	`<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" xmlns:dmndi="https://www.omg.org/spec/DMN/20191111/DMNDI/" xmlns:dc="http://www.omg.org/spec/DMN/20180521/DC/" xmlns:biodi="http://bpmn.io/schema/dmn/biodi/2.0" xmlns:modeler="http://camunda.org/schema/modeler/1.0" id="Definitions_ClassifyError" name="Classificação de erros de envio" namespace="http://camunda.org/schema/1.0/dmn" modeler:executionPlatform="Camunda Cloud" modeler:executionPlatformVersion="8.5.0">
  <decision id="classify-error" name="Classificar erro de envio">
    <description>As palavras da RN-BIL-005, seção 2.1, como na política {{.Name}} do worker; vale a primeira linha que combina. O worker não usa esta tabela. Gerada por make generate.</description>
    <decisionTable id="DecisionTable_ClassifyError" hitPolicy="FIRST">
      <input id="Input_SubmissionError" label="O texto do erro" biodi:width="380">
        <inputExpression id="InputExpression_SubmissionError" typeRef="string">
          <text>upper case(submissionError)</text>
        </inputExpression>
      </input>
      <output id="Output_ErrorClassification" label="Classe do erro" name="errorClassification" typeRef="string">
        <outputValues id="OutputValues_ErrorClassification">
          <text>"TRANSIENT","PERMANENT","UNKNOWN"</text>
        </outputValues>
      </output>
      <output id="Output_RuleID" label="Regra" name="ruleId" typeRef="string" biodi:width="340" />
{{- range .Rules}}
      <rule id="Rule_{{.ID}}">
        <inputEntry id="Text_{{.ID}}">
          <text>{{holds .}}</text>
        </inputEntry>
        <outputEntry id="Class_{{.ID}}">
          <text>"{{.Class}}"</text>
        </outputEntry>
        <outputEntry id="ID_{{.ID}}">
          <text>"{{.ID}}"</text>
        </outputEntry>
      </rule>
{{- end}}
      <rule id="Rule_unknown">
        <inputEntry id="Text_unknown">
          <text></text>
        </inputEntry>
        <outputEntry id="Class_unknown">
          <text>"{{.Unknown}}"</text>
        </outputEntry>
        <outputEntry id="ID_unknown">
          <text>"unknown"</text>
        </outputEntry>
      </rule>
    </decisionTable>
  </decision>
  <dmndi:DMNDI>
    <dmndi:DMNDiagram id="DMNDiagram_ClassifyError">
      <dmndi:DMNShape id="DMNShape_ClassifyError" dmnElementRef="classify-error">
        <dc:Bounds height="80" width="180" x="160" y="100" />
      </dmndi:DMNShape>
    </dmndi:DMNDiagram>
  </dmndi:DMNDI>
</definitions>
`))

// holds returns the condition of a rule in FEEL, which is asked about the text in upper case.
func holds(r retry.Rule) (string, error) {
	if !reflect.DeepEqual(r.Condition, evidence.Condition{Contains: r.Contains}) {
		return "", fmt.Errorf("rule %s has conditions that FEEL does not have", r.ID)
	}
	tests := make([]string, len(r.Contains))
	for i, word := range r.Contains {
		tests[i] = `contains(?, "` + template.HTMLEscapeString(strings.ToUpper(word)) + `")`
	}
	return strings.Join(tests, " or "), nil
}

// What the broker makes of the table is shown in test/e2e.
func TestDecisionTableHasTheWordsOfTheDocuments(t *testing.T) {
	const path = "../../bpmn/classify-error.dmn"
	p := policy.BuiltIn("rn-bil-005")
	var want bytes.Buffer
	check.Must(t, decisionTable.Execute(&want, p))
	if *update {
		check.Must(t, os.WriteFile(path, want.Bytes(), 0o644))
	}
	got, err := os.ReadFile(path)
	check.Must(t, err)
	check.Same(t, want.String(), string(got), "%s is not made from the policy of today, run `make generate`", path)
}
