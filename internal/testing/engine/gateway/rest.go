package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"hospital.example/analyze-retry/internal/testing/engine"
)

// REST returns the handler of the REST API: each call becomes the gRPC request that says the same, and its faults happen
// alike. The calls about user tasks and definitions have no gRPC request.
func (g *Gateway) REST() http.Handler {
	mux := http.NewServeMux()
	for pattern, call := range map[string]http.HandlerFunc{
		"GET /v2/topology":                              rest(g, "Topology", readTopology, g.Topology),
		"POST /v2/deployments":                          rest(g, "DeployResource", readDeployment, g.DeployResource),
		"POST /v2/process-instances":                    rest(g, "CreateProcessInstance", readCreation, g.CreateProcessInstance),
		"POST /v2/process-instances/{key}/cancellation": rest(g, "CancelProcessInstance", readCancellation, g.CancelProcessInstance),
		"POST /v2/jobs/activation":                      g.restActivate,
		"POST /v2/jobs/{key}/completion":                rest(g, "CompleteJob", readCompletion, g.CompleteJob),
		"POST /v2/jobs/{key}/error":                     rest(g, "ThrowError", readError, g.ThrowError),
		"POST /v2/jobs/{key}/failure":                   rest(g, "FailJob", readFailure, g.FailJob),
		"PATCH /v2/jobs/{key}":                          g.restUpdateJob,
		"PUT /v2/element-instances/{key}/variables":     rest(g, "SetVariables", readVariables, g.SetVariables),
		"POST /v2/incidents/{key}/resolution":           rest(g, "ResolveIncident", readResolution, g.ResolveIncident),
		"POST /v2/messages/publication":                 rest(g, "PublishMessage", readPublication, g.PublishMessage),
		"POST /v1/user-tasks/{key}/completion":          g.restCompleteUserTask,
		"POST /v2/user-tasks/{key}/completion":          g.restCompleteUserTask,
		"POST /v2/process-definitions/search":           g.restSearchDefinitions,
		"GET /v2/process-definitions/{key}/xml":         g.restDefinitionXML,
	} {
		mux.HandleFunc(pattern, call)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, r, http.StatusNotFound, "Not Found", "No endpoint "+r.Method+" "+r.URL.Path+".")
	})
	return mux
}

// rest serves a call by its gRPC method.
func rest[Q any, A proto.Message](
	g *Gateway, m Method, read func(*http.Request) (Q, error), call func(context.Context, Q) (A, error),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		request, err := read(r)
		if err != nil {
			writeProblem(w, r, http.StatusBadRequest, "Bad Request", err.Error())
			return
		}
		next := func(ctx context.Context, _ any) (any, error) { return call(ctx, request) }
		info := &grpc.UnaryServerInfo{FullMethod: "/" + string(m)}
		answer, err := g.interceptUnary(incoming(r), request, info, next)
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

func (g *Gateway) restActivate(w http.ResponseWriter, r *http.Request) {
	request, err := readActivation(r)
	if err != nil {
		writeProblem(w, r, http.StatusBadRequest, "Bad Request", err.Error())
		return
	}
	stream := &collector{ctx: incoming(r), request: request}
	info := &grpc.StreamServerInfo{FullMethod: "/" + string(ActivateJobs)}
	err = g.interceptStream(g, stream, info, func(_ any, s grpc.ServerStream) error {
		r := &pb.ActivateJobsRequest{}
		if err := s.RecvMsg(r); err != nil {
			return err
		}
		return g.ActivateJobs(r, &grpc.GenericServerStream[pb.ActivateJobsRequest, pb.ActivateJobsResponse]{ServerStream: s})
	})
	switch {
	case err == nil:
		writeJSON(w, http.StatusOK, "application/json", jobsToREST(stream.all))
	case len(stream.all) > 0: // the answer has begun, and breaks off
		text, _ := json.Marshal(jobsToREST(stream.all))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(bytes.TrimSuffix(text, []byte("]}")))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	default:
		writeError(w, r, err)
	}
}

// collector is a stream whose messages become one answer.
type collector struct {
	grpc.ServerStream
	ctx     context.Context
	request *pb.ActivateJobsRequest
	all     []*pb.ActivatedJob
}

func (c *collector) Context() context.Context { return c.ctx }

func (c *collector) RecvMsg(m any) error {
	proto.Merge(m.(proto.Message), c.request)
	return nil
}

func (c *collector) SendMsg(m any) error {
	c.all = append(c.all, m.(*pb.ActivateJobsResponse).GetJobs()...)
	return nil
}

// restUpdateJob updates what a change set names: the lock, the retries or both.
func (g *Gateway) restUpdateJob(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Changeset struct {
			Timeout int64
			Retries *int32
		}
	}
	key, err := pathKey(r)
	if err = errors.Join(err, decode(r, &b)); err != nil {
		writeProblem(w, r, http.StatusBadRequest, "Bad Request", err.Error())
		return
	}
	if b.Changeset.Retries != nil {
		request := &pb.UpdateJobRetriesRequest{JobKey: key, Retries: *b.Changeset.Retries}
		if _, err := g.UpdateJobRetries(r.Context(), request); err != nil {
			writeError(w, r, err)
			return
		}
		if b.Changeset.Timeout == 0 {
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	read := func(*http.Request) (*pb.UpdateJobTimeoutRequest, error) {
		return &pb.UpdateJobTimeoutRequest{JobKey: key, Timeout: b.Changeset.Timeout}, nil
	}
	rest(g, UpdateJobTimeout, read, g.UpdateJobTimeout)(w, r)
}

func (g *Gateway) restCompleteUserTask(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Variables json.RawMessage
		Action    string
	}
	key, err := pathKey(r)
	if err = errors.Join(err, decode(r, &b)); err != nil {
		writeProblem(w, r, http.StatusBadRequest, "Bad Request", err.Error())
		return
	}
	if _, err := g.do(&engine.CompleteUserTask{Key: key, Variables: string(b.Variables)}); err != nil {
		writeError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (g *Gateway) restSearchDefinitions(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Filter struct{ ProcessDefinitionID, TenantID string }
		Sort   []struct{ Field, Order string }
		Page   struct{ Limit int }
	}
	if err := decode(r, &b); err != nil {
		writeProblem(w, r, http.StatusBadRequest, "Bad Request", err.Error())
		return
	}
	var found []engine.Definition
	g.Locked(func(e *engine.Engine) { found = e.Definitions(b.Filter.ProcessDefinitionID) })
	slices.Reverse(found) // the newest first: the one order that is asked for
	items := []values{}
	for _, d := range found[:min(len(found), b.Page.Limit)] {
		items = append(items, values{
			"processDefinitionKey": key(d.Key), "processDefinitionId": d.ProcessID, "version": d.Version,
			"resourceName": d.Resource, "tenantId": g.options.Tenant, "name": nil, "versionTag": nil, "hasStartForm": false,
		})
	}
	writeJSON(w, http.StatusOK, "application/json", values{"items": items, "page": values{"totalItems": len(found)}})
}

func (g *Gateway) restDefinitionXML(w http.ResponseWriter, r *http.Request) {
	key, _ := pathKey(r)
	var found []engine.Definition
	g.Locked(func(e *engine.Engine) { found = e.Definitions("") })
	i := slices.IndexFunc(found, func(d engine.Definition) bool { return d.Key == key })
	if i < 0 {
		writeProblem(w, r, http.StatusNotFound, "NOT_FOUND",
			"Process Definition with key '"+r.PathValue("key")+"' not found")
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	_, _ = w.Write(found[i].XML)
}

type errProperty string

func (e errProperty) Error() string { return "Request property [" + string(e) + "] cannot be parsed" }

// decode reads a body of JSON. Properties that are not known are refused. An empty body has none.
func decode(r *http.Request, into any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			return errProperty(strings.Trim(name, `"`))
		}
		return errors.New("Request body cannot be read") //nolint:staticcheck // the gateway's words
	}
	_, err := io.Copy(io.Discard, r.Body)
	return err
}

// pathKey returns the key in the path of a call.
func pathKey(r *http.Request) (int64, error) { return strconv.ParseInt(r.PathValue("key"), 10, 64) }

func readTopology(*http.Request) (*pb.TopologyRequest, error) { return &pb.TopologyRequest{}, nil }

func readActivation(r *http.Request) (*pb.ActivateJobsRequest, error) {
	var b struct {
		Type, Worker, TenantFilter string
		Timeout, RequestTimeout    int64
		MaxJobsToActivate          int32
		FetchVariable, TenantIDs   []string
	}
	err := decode(r, &b)
	return &pb.ActivateJobsRequest{
		Type: b.Type, Worker: b.Worker, Timeout: b.Timeout, MaxJobsToActivate: b.MaxJobsToActivate,
		FetchVariable: b.FetchVariable, RequestTimeout: b.RequestTimeout, TenantIds: b.TenantIDs,
	}, err
}

func readCompletion(r *http.Request) (*pb.CompleteJobRequest, error) {
	var b struct{ Variables, Result json.RawMessage }
	key, err := pathKey(r)
	err = errors.Join(err, decode(r, &b))
	return &pb.CompleteJobRequest{JobKey: key, Variables: object(b.Variables)}, err
}

func readError(r *http.Request) (*pb.ThrowErrorRequest, error) {
	var b struct {
		ErrorCode, ErrorMessage string
		Variables               json.RawMessage
	}
	key, err := pathKey(r)
	err = errors.Join(err, decode(r, &b))
	return &pb.ThrowErrorRequest{
		JobKey: key, ErrorCode: b.ErrorCode, ErrorMessage: b.ErrorMessage, Variables: object(b.Variables),
	}, err
}

func readFailure(r *http.Request) (*pb.FailJobRequest, error) {
	var b struct {
		Retries      int32
		RetryBackOff int64
		ErrorMessage string
		Variables    json.RawMessage
	}
	key, err := pathKey(r)
	err = errors.Join(err, decode(r, &b))
	return &pb.FailJobRequest{
		JobKey: key, Retries: b.Retries, RetryBackOff: b.RetryBackOff, ErrorMessage: b.ErrorMessage,
		Variables: object(b.Variables),
	}, err
}

func readCreation(r *http.Request) (*pb.CreateProcessInstanceRequest, error) {
	var b struct {
		ProcessDefinitionID, ProcessDefinitionKey, TenantID string
		ProcessDefinitionVersion                            *int32
		Variables                                           json.RawMessage
	}
	err := decode(r, &b)
	request := &pb.CreateProcessInstanceRequest{
		BpmnProcessId: b.ProcessDefinitionID, Version: -1, Variables: object(b.Variables), TenantId: b.TenantID,
	}
	if b.ProcessDefinitionVersion != nil {
		request.Version = *b.ProcessDefinitionVersion
	}
	if b.ProcessDefinitionKey != "" {
		var wrong error
		request.ProcessDefinitionKey, wrong = strconv.ParseInt(b.ProcessDefinitionKey, 10, 64)
		err = errors.Join(err, wrong)
	}
	return request, err
}

func readCancellation(r *http.Request) (*pb.CancelProcessInstanceRequest, error) {
	key, err := pathKey(r)
	return &pb.CancelProcessInstanceRequest{ProcessInstanceKey: key}, errors.Join(err, decode(r, &struct{}{}))
}

func readVariables(r *http.Request) (*pb.SetVariablesRequest, error) {
	var b struct {
		Variables json.RawMessage
		Local     bool
	}
	key, err := pathKey(r)
	err = errors.Join(err, decode(r, &b))
	return &pb.SetVariablesRequest{ElementInstanceKey: key, Variables: object(b.Variables), Local: b.Local}, err
}

func readResolution(r *http.Request) (*pb.ResolveIncidentRequest, error) {
	key, err := pathKey(r)
	return &pb.ResolveIncidentRequest{IncidentKey: key}, errors.Join(err, decode(r, &struct{}{}))
}

func readPublication(r *http.Request) (*pb.PublishMessageRequest, error) {
	var b struct {
		Name, CorrelationKey, MessageID, TenantID string
		TimeToLive                                int64
		Variables                                 json.RawMessage
	}
	err := decode(r, &b)
	return &pb.PublishMessageRequest{
		Name: b.Name, CorrelationKey: b.CorrelationKey, MessageId: b.MessageID, TenantId: b.TenantID,
		TimeToLive: b.TimeToLive, Variables: object(b.Variables),
	}, err
}

func readDeployment(r *http.Request) (*pb.DeployResourceRequest, error) {
	if err := r.ParseMultipartForm(64 << 20); err != nil {
		return nil, err
	}
	request := &pb.DeployResourceRequest{TenantId: r.FormValue("tenantId")}
	for _, file := range r.MultipartForm.File["resources"] {
		content, err := contentOf(file)
		if err != nil {
			return nil, err
		}
		request.Resources = append(request.Resources, &pb.Resource{Name: file.Filename, Content: content})
	}
	return request, nil
}

func contentOf(file *multipart.FileHeader) ([]byte, error) {
	f, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// object returns variables as gRPC has them; null is none.
func object(variables json.RawMessage) string {
	if string(variables) == "null" {
		return ""
	}
	return string(variables)
}
