package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"hospital.example/analyze-retry/internal/testing/engine"
)

// route is a call of the REST API that says the same as a request of gRPC. The properties of both have the same names, but
// for those in names.
type route struct {
	request proto.Message
	key     string            // the field that the key in the path is
	names   map[string]string // of fields by those of properties; "" for a property that changes nothing here
}

var routes = map[string]route{
	"GET /v2/topology": {request: &pb.TopologyRequest{}},
	"POST /v2/process-instances": {
		request: &pb.CreateProcessInstanceRequest{},
		names: map[string]string{
			"processDefinitionId": "bpmnProcessId", "processDefinitionVersion": "version", "requestTimeout": "",
		},
	},
	"POST /v2/process-instances/{key}/cancellation": {
		request: &pb.CancelProcessInstanceRequest{}, key: "processInstanceKey",
	},
	"POST /v2/jobs/{key}/completion":            {request: &pb.CompleteJobRequest{}, key: "jobKey"},
	"POST /v2/jobs/{key}/error":                 {request: &pb.ThrowErrorRequest{}, key: "jobKey"},
	"POST /v2/jobs/{key}/failure":               {request: &pb.FailJobRequest{}, key: "jobKey"},
	"PUT /v2/element-instances/{key}/variables": {request: &pb.SetVariablesRequest{}, key: "elementInstanceKey"},
	"POST /v2/incidents/{key}/resolution":       {request: &pb.ResolveIncidentRequest{}, key: "incidentKey"},
	"POST /v2/messages/publication":             {request: &pb.PublishMessageRequest{}},
}

// REST returns the handler of the REST API. Most calls become the gRPC request that says the same, and their faults happen
// alike.
func (g *Gateway) REST() http.Handler {
	mux := http.NewServeMux()
	for pattern, route := range routes {
		mux.HandleFunc(pattern, g.rest(func(r *http.Request) (proto.Message, error) { return route.read(r.Body, r) }))
	}
	mux.HandleFunc("POST /v2/deployments", g.rest(readDeployment))
	mux.HandleFunc("PATCH /v2/jobs/{key}", g.rest(readJobUpdate))
	mux.HandleFunc("POST /v2/jobs/activation", g.restActivate)
	mux.HandleFunc("POST /v2/user-tasks/{key}/completion", g.restCompleteUserTask)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, r, http.StatusNotFound, "Not Found", "No endpoint "+r.Method+" "+r.URL.Path+".")
	})
	return http.MaxBytesHandler(mux, 4<<20) // as gRPC's
}

// rest serves a call by the request that it says.
func (g *Gateway) rest(read func(*http.Request) (proto.Message, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		request, err := read(r)
		if err != nil {
			writeProblem(w, r, http.StatusBadRequest, "Bad Request", err.Error())
			return
		}
		answer, err := g.serve(incoming(r), request)
		if err != nil {
			writeError(w, r, err)
			return
		}
		writeAnswer(w, answer)
	}
}

// incoming returns the context of a call as that of a gRPC call.
func incoming(r *http.Request) context.Context {
	if a := r.Header.Get("Authorization"); a != "" {
		return metadata.NewIncomingContext(r.Context(), metadata.Pairs("authorization", a))
	}
	return r.Context()
}

// read reads a body as the request that says the same. A property that is not known is refused, unless it is empty: so
// clients send what they do not ask for.
func (t route) read(body io.Reader, r *http.Request) (proto.Message, error) {
	properties := map[string]json.RawMessage{}
	if err := json.NewDecoder(body).Decode(&properties); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New("Request body cannot be read") //nolint:staticcheck // the gateway's words
	}
	request := t.request.ProtoReflect().New()
	fields := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		value, field := properties[name], name
		if other, known := t.names[name]; known {
			field = other
		}
		if field == "" || slices.Contains([]string{"null", "false", "[]", `""`}, string(value)) {
			continue
		}
		if request.Descriptor().Fields().ByJSONName(field) == nil {
			return nil, fmt.Errorf("Request property [%s] cannot be parsed", name) //nolint:staticcheck // likewise
		}
		if field == "variables" {
			value, _ = json.Marshal(string(value)) // gRPC has a text
		}
		fields[field] = value
	}
	if t.key != "" {
		fields[t.key] = json.RawMessage(strconv.Quote(r.PathValue("key")))
	}
	text, err := json.Marshal(fields)
	if err == nil {
		err = protojson.Unmarshal(text, request.Interface())
	}
	return request.Interface(), err
}

// readJobUpdate reads a change of a job: of its retries, or of its lock.
func readJobUpdate(r *http.Request) (proto.Message, error) {
	var b struct{ Changeset json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
		return nil, err
	}
	request := route{request: &pb.UpdateJobTimeoutRequest{}, key: "jobKey"}
	if bytes.Contains(b.Changeset, []byte(`"retries"`)) {
		request.request = &pb.UpdateJobRetriesRequest{}
	}
	return request.read(bytes.NewReader(b.Changeset), r)
}

func readDeployment(r *http.Request) (proto.Message, error) {
	if err := r.ParseMultipartForm(64 << 20); err != nil {
		return nil, err
	}
	request := &pb.DeployResourceRequest{TenantId: r.FormValue("tenantId")}
	for _, file := range r.MultipartForm.File["resources"] {
		f, err := file.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		request.Resources = append(request.Resources, &pb.Resource{Name: file.Filename, Content: content})
	}
	return request, nil
}

var activation = route{request: &pb.ActivateJobsRequest{}, names: map[string]string{"tenantFilter": ""}}

func (g *Gateway) restActivate(w http.ResponseWriter, r *http.Request) {
	request, err := activation.read(r.Body, r)
	if err != nil {
		writeProblem(w, r, http.StatusBadRequest, "Bad Request", err.Error())
		return
	}
	// The server sees that a client is gone only once the body is read to its end.
	_, _ = io.Copy(io.Discard, r.Body)
	var jobs []*pb.ActivatedJob
	err = g.poll(incoming(r), request.(*pb.ActivateJobsRequest), func(response *pb.ActivateJobsResponse) error {
		jobs = append(jobs, response.Jobs...)
		return nil
	})
	switch {
	case err == nil:
		writeJSON(w, http.StatusOK, "application/json", jobsToREST(jobs))
	case len(jobs) > 0: // the answer has begun, and breaks off
		text, _ := json.Marshal(jobsToREST(jobs))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(bytes.TrimSuffix(text, []byte("]}")))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	default:
		writeError(w, r, err)
	}
}

// restCompleteUserTask completes a user task, for which gRPC has no request.
func (g *Gateway) restCompleteUserTask(w http.ResponseWriter, r *http.Request) {
	var b struct{ Variables json.RawMessage }
	key, err := strconv.ParseInt(r.PathValue("key"), 10, 64)
	if err == nil {
		err = json.NewDecoder(r.Body).Decode(&b)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		writeProblem(w, r, http.StatusBadRequest, "Bad Request", err.Error())
		return
	}
	if _, err := g.Do(&engine.CompleteUserTask{Key: key, Variables: string(b.Variables)}); err != nil {
		writeError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
