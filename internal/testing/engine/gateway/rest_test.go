package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine"
)

// over makes a call of the REST API, wants a status, and returns the answer.
func over(t *testing.T, g *Gateway, endpoint, body string, want int) (answer map[string]any) {
	t.Helper()
	method, path, _ := strings.Cut(endpoint, " ")
	code, text := call(g.REST(), method, path, body)
	if code != want {
		t.Fatalf("%s %s answers %d %s, want %d", method, path, code, text, want)
	}
	if text != "" {
		check.Must(t, json.Unmarshal([]byte(text), &answer))
	}
	return answer
}

// activated activates the one job over REST and returns it.
func activated(t *testing.T, g *Gateway) map[string]any {
	t.Helper()
	jobs := over(t, g, "POST /v2/jobs/activation",
		`{"type":"t","worker":"w","timeout":10000,"maxJobsToActivate":5,"requestTimeout":-1,"fetchVariable":["n"],"tenantIds":["<default>"]}`, 200)["jobs"].([]any)
	if len(jobs) != 1 {
		t.Fatalf("%d jobs", len(jobs))
	}
	return jobs[0].(map[string]any)
}

func TestTheRESTAPISaysTheSame(t *testing.T) {
	var incident int64
	g := withModel(t, Options{Record: func(r engine.Record) {
		if r.ValueType == "INCIDENT" && r.Intent == "CREATED" {
			incident = r.Key
		}
	}})
	created := over(
		t,
		g,
		"POST /v2/process-instances",
		`{"processDefinitionId":"P","variables":{"n":9007199254740993}}`,
		200,
	)
	instance := created["processInstanceKey"].(string)
	job := activated(t, g)
	if job["processInstanceKey"] != instance || job["elementId"] != "T" || job["retries"] != 3.0 || job["customHeaders"] == nil {
		t.Errorf("job %v", job)
	}
	path := fmt.Sprint("/v2/jobs/", job["jobKey"])
	over(t, g, "PATCH "+path, `{"changeset":{"timeout":60000}}`, 204)
	over(t, g, "POST "+path+"/failure", `{"retries":0,"errorMessage":"why","variables":{"m":1}}`, 204)
	problem := over(t, g, "POST "+path+"/completion", `{}`, 409)
	if problem["title"] != "INVALID_STATE" || !strings.Contains(problem["detail"].(string), "it is in state 'FAILED'") || problem["instance"] != path+"/completion" {
		t.Errorf("problem %v", problem)
	}
	title := func(endpoint, body string, code int) any { return over(t, g, endpoint, body, code)["title"] }
	check.Same(t, any("INVALID_ARGUMENT"), title("PATCH "+path, `{"changeset":{"retries":0}}`, 400), "title")
	check.Same(t, any("NOT_FOUND"), title("POST /v2/jobs/7/completion", `{}`, 404), "title")
	check.Must(t, g.InjectText("CompleteJob code=RESOURCE_EXHAUSTED"))
	check.Same(t, any("RESOURCE_EXHAUSTED"), title("POST "+path+"/completion", `{}`, 503), "title")
	over(t, g, "PATCH "+path, `{"changeset":{"retries":1}}`, 204)
	over(t, g, "PUT /v2/element-instances/"+instance+"/variables", `{"variables":{"n":2},"local":true}`, 204)
	over(t, g, "POST "+fmt.Sprintf("/v2/incidents/%d/resolution", incident), ``, 204)
	check.Same(t, `{"n":2}`, compact(t, activated(t, g)["variables"]), "variables")
	over(t, g, "POST "+path+"/error", `{"errorCode":"E"}`, 204)
	over(t, g, "POST /v2/process-instances/"+instance+"/cancellation", ``, 204)
	over(t, g, "POST /v2/process-instances/"+instance+"/cancellation", ``, 404)
	message := `{"name":"m","correlationKey":"k","messageId":"1","timeToLive":60000,"variables":{}}`
	over(t, g, "POST /v2/messages/publication", message, 200)
	check.Same(t, any("ALREADY_EXISTS"), title("POST /v2/messages/publication", message, 409), "title")
	check.Same(t, DefaultVersion, over(t, g, "GET /v2/topology", "", 200)["gatewayVersion"].(string), "version")
	over(t, g, "GET /v2/nothing", "", 404)
}

func compact(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	check.Must(t, err)
	return string(text)
}

func TestAPropertyThatTheAPIDoesNotHaveIsRefused(t *testing.T) {
	g := withModel(t, Options{})
	for body, want := range map[string]string{
		`{"type":"t","withLease":true}`: "Request property [withLease] cannot be parsed",
		`{"type":`:                      "Request body cannot be read",
		`{"timeout":"soon"}`:            "timeout",
	} {
		problem := over(t, g, "POST /v2/jobs/activation", body, 400)
		if !strings.Contains(problem["detail"].(string), want) {
			t.Errorf("%s: %v", body, problem)
		}
	}
}

func TestWhatACreationAsksForInVainIsRefused(t *testing.T) {
	g := withModel(t, Options{})
	create := func(properties string, want int) map[string]any {
		return over(t, g, "POST /v2/process-instances", `{"processDefinitionId":"P",`+properties+`}`, want)
	}
	for name, value := range map[string]string{
		"awaitCompletion": `true`, "tags": `["t"]`, "businessId": `"b"`,
		"startInstructions": `[{"elementId":"T"}]`, "runtimeInstructions": `[{"afterElementId":"T"}]`,
	} {
		check.Same(t, name+" is not supported here", create(`"`+name+`":`+value, 400)["detail"].(string), "detail")
	}
	create(`"awaitCompletion":false,"tags":[],"businessId":null,"startInstructions":[],"runtimeInstructions":[],
		"fetchVariables":["n"],"requestTimeout":5,"operationReference":7`, 200)
}

func TestFilesAreDeployed(t *testing.T) {
	g := New(Options{})
	defer g.Close()
	deploy := func(content string) *httptest.ResponseRecorder {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreateFormFile("resources", "p.bpmn")
		check.Must(t, err)
		_, _ = part.Write([]byte(content))
		check.Must(t, form.Close())
		r := httptest.NewRequest(http.MethodPost, "/v2/deployments", &body)
		r.Header.Set("Content-Type", form.FormDataContentType())
		w := httptest.NewRecorder()
		g.REST().ServeHTTP(w, r)
		return w
	}
	if w := deploy(model); w.Code != 200 || !strings.Contains(w.Body.String(), `"processDefinitionId":"P","processDefinitionKey":"2251799813685`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	deploy(model + "\n")
	if w := deploy("<a/>"); w.Code != 400 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestAUserTaskIsCompletedOverREST(t *testing.T) {
	var task int64
	g := withModel(t, Options{Record: func(r engine.Record) {
		if r.ValueType == "USER_TASK" && r.Intent == "CREATED" {
			task = r.Key
		}
	}})
	for _, version := range []string{"v1", "v2"} {
		start(t, g, `{}`)
		g.SetClock(map[string]time.Duration{"v1": time.Hour, "v2": 2 * time.Hour}[version])
		path := fmt.Sprintf("POST /%s/user-tasks/%d/completion", version, task)
		over(t, g, path, `{"variables":{"a":1}}`, 204)
		check.Same(t, "NOT_FOUND", over(t, g, path, ``, 404)["title"].(string), "title")
		over(t, g, "POST /"+version+"/user-tasks/x/completion", `{}`, 400)
	}
}
