// Command schema writes the JSON Schema of a policies file, by which editors complete and check it. The worker does not use it.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/policy"
)

func main() {
	text, err := generate()
	if err == nil {
		err = os.WriteFile("policies.schema.json", text, 0o644) //nolint:gosec // it is read by everybody
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

// generate returns the schema of the Go types that a file is read into.
func generate() ([]byte, error) {
	types := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[policy.Duration](): {Type: "string", Pattern: `^([0-9.]+(ms|s|m|h))+$|^P[0-9.WDTHMS]+$`},
		reflect.TypeFor[[]string]():        {Type: "array", Items: &jsonschema.Schema{Types: []string{"string", "number"}}},
	}
	// A condition holds another one as its unless, which holds none.
	var fields []reflect.StructField
	for field := range reflect.TypeFor[evidence.Condition]().Fields() {
		if field.Name != "Unless" {
			fields = append(fields, field)
		}
	}
	unless, err := jsonschema.ForType(reflect.StructOf(fields), &jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		return nil, err
	}
	types[reflect.TypeFor[evidence.Condition]()] = &jsonschema.Schema{Type: "object", Properties: unless.Properties}
	entry, err := jsonschema.For[policy.Entry](&jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		return nil, err
	}
	for _, rules := range []string{"rules", "inDoubt"} {
		entry.Properties[rules].Items.Properties["unless"] = unless.CloneSchemas()
	}
	if err := complete(entry); err != nil {
		return nil, err
	}
	return json.MarshalIndent(&jsonschema.Schema{
		Schema:               "https://json-schema.org/draft/2020-12/schema",
		ID:                   "https://hospital.example/analyze-retry/policies.schema.json",
		Title:                "Retry policies",
		Description:          "A file of retry policies. They are added to the built-in ones and replace those of the same name.",
		Type:                 "object",
		Required:             []string{"policies"},
		AdditionalProperties: entry.AdditionalProperties,
		Properties:           map[string]*jsonschema.Schema{"policies": {Type: "array", Items: entry}},
	}, "", "  ")
}

// complete adds to an object what its Go type does not say.
func complete(object *jsonschema.Schema) error {
	object.Required = slices.DeleteFunc(object.Required, func(name string) bool { return slices.Contains(optional, name) })
	for name, property := range object.Properties {
		var known bool
		if property.Description, known = descriptions[name]; !known {
			return fmt.Errorf("the field %s has no description", name)
		}
		property.Enum = append(property.Enum, words[name]...)
		for _, inner := range []*jsonschema.Schema{property, property.Items} {
			if inner != nil && inner.Properties != nil {
				if err := complete(inner); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// optional are fields that need not be stated although JSON always has them.
var optional = []string{"jitter", "maxRetries", "jobOverrides"}

// words are the values of fields that have a few.
var words = map[string][]any{
	"precision":    {"minute", "second", "millisecond"},
	"ids":          {"claim", "any"},
	"unknown":      {"UNKNOWN", "TRANSIENT", "PERMANENT"},
	"onEmptyError": {"reject", "unknown"},
	"class":        {"TRANSIENT", "PERMANENT"},
	"in":           {evidence.InAnswer},
}

var descriptions = map[string]string{
	"name": "The name by which RETRY_JOB_TYPES and the task header retryPolicy ask for the policy. It takes part in the jitter: " +
		"renaming a policy moves the retries that are still to come.",
	"description": "One line for people: what is retried under this policy.",
	"source":      "Where it comes from: a document, a ticket, a contract.",
	"extends": "The policy to inherit from: everything that is not stated here, except name, description and source. " +
		"The rules here come before its rules. A policy that extends its own name extends the built-in one.",
	"base":       "The wait before the first retry, before jitter.",
	"factor":     "How many times as long each further wait is: 1 to 1000, default 2. 1 keeps the wait as it is.",
	"min":        "No wait is shorter, jitter and hints included. Whole units of precision; default: one unit.",
	"max":        "No wait is longer, jitter and hints included. Whole units of precision, at most 366 days.",
	"jitter":     "How far a wait is spread to both sides: 0.2 is 20 %, 0 (the default) is none.",
	"precision":  "The unit of the waits; default minute.",
	"maxRetries": "How often a claim is tried again after its first submission: 0 to 1000.",
	"deadline":   "No try is scheduled later than this after the first failure. 0s or no deadline: no such bound.",
	"timeZone":   "The zone in which a time without a zone is read, by its IANA name; default America/Sao_Paulo.",
	"ids": "The form of the variable claimId. claim (the default): CLM-<any>-<digits>. " +
		"any: one word of letters, digits and . _ : / - up to 128 bytes.",
	"unknown":      "The class of an error text that no rule matches; default UNKNOWN.",
	"onEmptyError": "What a blank error text is. reject (the default): invalid input, an incident. unknown: an error of class UNKNOWN.",
	"jobOverrides": "Whether a job's own variables max_attempts, retry_delay and max_retry_delay take the place of maxRetries, base and max.",
	"targets": "The KPIs that the claims of the policy are to reach. They decide nothing; reports, alerts and the dashboard compare with them. " +
		"An empty list removes the inherited ones.",
	"kpi": "The KPI. docs/audit.md has the formula of each.",
	"target": "A bound, >=, <= or <, and a value: a share in percent (\">= 80%\"), a duration (\"<= 2h\") or a number (\"<= 1.2\"). " +
		"Two targets for one KPI need two sources.",
	"rules": "The rules that give an error text its class: the first one that matches decides.",
	"inDoubt": "Error texts after which the submission may have reached its receiver all the same: the decision then advises CHECK_STATUS. " +
		"They have no class and are asked apart from the rules.",
	"id":        "The rule's name in decisions, audit records and metrics.",
	"class":     "TRANSIENT: may pass by itself. PERMANENT: a retry cannot help. Of a glosa: only the rows of this class.",
	"unless":    "Where this holds, the rule does not.",
	"glosa":     "A code of a glosa table. Without in it counts wherever the text names it as one.",
	"http":      "HTTP status codes that the text names as such: 503, or 5xx.",
	"smtp":      "Reply codes of SMTP, 550 or 5xx, and the classes 4.x.x and 5.x.x of enhanced status codes.",
	"soapFault": "Fault codes of SOAP: Client, Sender, Server, Receiver, VersionMismatch, MustUnderstand.",
	"exception": "Classes of exceptions, by their last name: SocketTimeoutException.",
	"terms":     "A phrase of a table, by its sign.",
	"contains":  "Any of these words stands anywhere in the text, inside of longer words too. Upper and lower case are alike.",
	"table":     "The table: tabela-38 of a glosa; terms or exceptions of terms.",
	"only":      "Only these codes.",
	"except":    "All but these codes.",
	"sign":      "The signs of the rows that count.",
	"in": "answer: only what stands in an insurer's structured answer (codigoGlosa, descricaoGlosa, mensagemErro, falhaNegocio) " +
		"which does not say that a system is away.",
}
