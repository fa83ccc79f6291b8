//go:build clients

// Package clients runs clients that others wrote against the engine, over the wire. Each plays the same
// scenario and reports what it saw of each step; what it has to see stands here once for all of them.
package clients

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/cluster"
)

// scenario is what every client does, in this order, and what it has to see: a result, or an error by the
// name that the REST API has for it. Order a is packed and paid, b is torn, c stops at an incident and is
// cancelled.
var scenario = []struct{ step, result, err string }{
	{step: "topology", result: `{"brokers":1,"partitions":1,"version":"8.9.0"}`},
	{step: "deploy", result: `{"process":"order","version":1}`},
	{step: "deploy no model", err: "INVALID_ARGUMENT"},
	{step: "create unknown", err: "NOT_FOUND"},

	{step: "create a", result: `{"process":"order","version":1}`},
	{step: "work a", result: job(1, `{"order":"a","text":"1 < 2 & ü"}`)},
	{step: "complete again", err: "NOT_FOUND"},
	{step: "update timeout", err: "NOT_FOUND"},
	{step: "publish"},
	{step: "publish again", err: "ALREADY_EXISTS"},

	{step: "create b", result: `{"process":"order","version":1}`},
	{step: "work b", result: job(1, `{"order":"b"}`)},
	{step: "throw again", err: "NOT_FOUND"},

	{step: "create c", result: `{"process":"order","version":1}`},
	{step: "work c", result: job(1, `{"order":"c"}`)},
	{step: "complete failed", err: "INVALID_STATE"},
	{step: "resolve without retries", err: "INVALID_STATE"},
	{step: "set variables"},
	{step: "update retries"},
	{step: "resolve"},
	{step: "work c again", result: job(2, `{"order":"c","box":{"size":12}}`)},
	{step: "resolve again", err: "NOT_FOUND"},
	{step: "cancel"},
	{step: "cancel again", err: "NOT_FOUND"},
	{step: "set variables of none", err: "NOT_FOUND"},
}

// job is what a worker has to see of a job.
func job(retries int, variables string) string {
	return fmt.Sprintf(`{"type":"pack-order","process":"order","element":"pack","worker":"packer",
		"headers":{"label":"fragile"},"retries":%d,"variables":%s}`, retries, variables)
}

// left is what the scenario leaves in the records, in this order: what the clients sent has arrived.
var left = []string{
	`order = a`, `text = 1 < 2 & ü`, `weight = 3.5`, `amount = 1200`, `shipped ended`,
	`order = b`, `returned ended`,
	`order = c`, `incident JOB_NO_RETRIES: no box`, `box = map[size:12]`, `weight = 3.5`, `order terminated`,
}

// patience is how long a client may take. It ends a test that hangs.
const patience = 5 * time.Minute

// report is what a client saw of a step. An error is as the client names it.
type report struct {
	Step   string
	Result any
	Error  string
}

// compare compares what a client saw with the scenario. names translates the client's names of errors.
func compare(t *testing.T, c *cluster.Cluster, reports []report, names map[string]string) {
	t.Helper()
	for i, want := range scenario {
		if i == len(reports) {
			t.Fatalf("the client ended before %q", want.step)
		}
		got := reports[i]
		got.Error = cmp.Or(names[got.Error], got.Error)
		var result any
		if want.result != "" {
			check.Must(t, json.Unmarshal([]byte(want.result), &result))
		}
		check.Same(t, report{want.step, result, want.err}, got, "what the client saw")
	}
	if more := reports[len(scenario):]; len(more) > 0 {
		t.Errorf("the client did more than the scenario: %+v", more)
	}
	records, err := c.Records()
	check.Must(t, err)
	check.Same(t, left, remains(records), "what the records have")
}

// remains returns the lines of [left] that the records have.
func remains(records []cluster.Record) (lines []string) {
	for _, r := range records {
		switch {
		case r.Is("VARIABLE", "CREATED"), r.Is("VARIABLE", "UPDATED"):
			var content any
			_ = json.Unmarshal([]byte(r.VariableValue), &content)
			lines = append(lines, fmt.Sprintf("%s = %v", r.Name, content))
		case r.Is("INCIDENT", "CREATED"):
			lines = append(lines, "incident "+r.ErrorType+": "+r.ErrorMessage)
		case r.BpmnElementType == "END_EVENT" && r.Intent == "ELEMENT_COMPLETED":
			lines = append(lines, r.ElementID+" ended")
		case r.BpmnElementType == "PROCESS" && r.Intent == "ELEMENT_TERMINATED":
			lines = append(lines, r.ElementID+" terminated")
		}
	}
	return lines
}

// serveKeys serves to programs the key of the first record of an instance with a type and an intent, as soon as it is there:
// GET /INCIDENT/CREATED/INSTANCE. Clients have no other way to the key of an incident: a real cluster lets one search for it.
func serveKeys(t *testing.T, c *cluster.Cluster) (url string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{type}/{intent}/{instance}", func(w http.ResponseWriter, r *http.Request) {
		found, err := c.AwaitRecord(r.Context(), func(record cluster.Record) bool {
			return record.Is(r.PathValue("type"), r.PathValue("intent")) &&
				strconv.FormatInt(record.ProcessInstanceKey, 10) == r.PathValue("instance")
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, found.Key)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}
