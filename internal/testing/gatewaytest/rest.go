package gatewaytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// ServeREST serves the REST API on a listener in the background, until Close.
func (g *Gateway) ServeREST(listener net.Listener) {
	server := &http.Server{Handler: g.REST(), ErrorLog: zap.NewStdLog(zap.NewNop())}
	g.mu.Lock()
	g.servers = append(g.servers, server)
	g.mu.Unlock()
	go func() { _ = server.Serve(listener) }()
}

// PipeREST serves the REST API in memory and returns the function that dials it.
func (g *Gateway) PipeREST() func(context.Context, string) (net.Conn, error) {
	listener := newPipes()
	g.ServeREST(listener)
	return listener.dial
}

// REST is the gateway's REST API as that of 8.9: each call becomes the gRPC request that says the same, and its faults happen
// alike.
func (g *Gateway) REST() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v2/jobs/activation", g.restActivate)
	mux.HandleFunc("POST /v2/jobs/{key}/completion", rest(g, CompleteJob, completeFromREST, g.CompleteJob))
	mux.HandleFunc("POST /v2/jobs/{key}/error", rest(g, ThrowError, errorFromREST, g.ThrowError))
	mux.HandleFunc("POST /v2/jobs/{key}/failure", rest(g, FailJob, failureFromREST, g.FailJob))
	mux.HandleFunc("PATCH /v2/jobs/{key}", rest(g, UpdateJobTimeout, updateFromREST, g.UpdateJobTimeout))
	mux.HandleFunc("GET /v2/topology", rest(g, Topology, topologyFromREST, g.Topology))
	mux.HandleFunc("POST /v2/deployments", rest(g, DeployResource, deploymentFromREST, g.DeployResource))
	mux.HandleFunc("POST /v2/messages/publication", rest(g, PublishMessage, publicationFromREST, g.PublishMessage))
	mux.HandleFunc("POST /v2/process-definitions/search", g.restSearchDefinitions)
	mux.HandleFunc("GET /v2/process-definitions/{key}/xml", g.restDefinitionXML)
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
		response, err := g.interceptUnary(incoming(r), request, &grpc.UnaryServerInfo{FullMethod: "/" + string(m)}, next)
		if err != nil {
			writeError(w, r, err)
			return
		}
		writeResult(w, response)
	}
}

// overREST marks the context of a call over REST.
type overREST struct{}

// incoming returns the context of a call as that of a gRPC call.
func incoming(r *http.Request) context.Context {
	ctx := context.WithValue(r.Context(), overREST{}, true)
	if a := r.Header.Get("Authorization"); a != "" {
		return metadata.NewIncomingContext(ctx, metadata.Pairs("authorization", a))
	}
	return ctx
}

// errUnwritten is the error of a poll whose jobs cannot be delivered, by Spring. Over gRPC such a poll is never answered.
var errUnwritten = status.Error(codes.Internal, "Failed to write request")

func (g *Gateway) restActivate(w http.ResponseWriter, r *http.Request) {
	request, err := activationFromREST(r)
	if err != nil {
		writeProblem(w, r, http.StatusBadRequest, "Bad Request", err.Error())
		return
	}
	stream := &collector{ctx: incoming(r), request: request}
	err = g.interceptStream(g, stream, &grpc.StreamServerInfo{FullMethod: "/" + string(ActivateJobs)}, func(_ any, s grpc.ServerStream) error {
		r := &pb.ActivateJobsRequest{}
		if err := s.RecvMsg(r); err != nil {
			return err
		}
		return g.ActivateJobs(r, &grpc.GenericServerStream[pb.ActivateJobsRequest, pb.ActivateJobsResponse]{ServerStream: s})
	})
	switch {
	case err == nil:
		writeResult(w, stream.all)
	case errors.Is(err, errUnwritten):
		writeProblem(w, r, http.StatusInternalServerError, "Internal Server Error", status.Convert(err).Message())
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

type errProperty string

func (e errProperty) Error() string { return "Request property [" + string(e) + "] cannot be parsed" }

// decode reads a body of JSON. Properties that the API does not have are refused.
func decode(r *http.Request, into any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			return errProperty(strings.Trim(name, `"`))
		}
		return errors.New("Request body cannot be read") //nolint:staticcheck // the gateway's words
	}
	_, err := io.Copy(io.Discard, r.Body)
	return err
}

func activationFromREST(r *http.Request) (*pb.ActivateJobsRequest, error) {
	var b struct {
		Type, Worker             string
		Timeout, RequestTimeout  int64
		MaxJobsToActivate        int32
		FetchVariable, TenantIDs []string
	}
	if err := decode(r, &b); err != nil {
		return nil, err
	}
	request := &pb.ActivateJobsRequest{
		Type: b.Type, Worker: b.Worker, Timeout: b.Timeout, MaxJobsToActivate: b.MaxJobsToActivate,
		FetchVariable: b.FetchVariable, RequestTimeout: b.RequestTimeout, TenantIds: b.TenantIDs,
	}
	return request, nil
}

// jobKey returns the key in the path of a call about a job.
func jobKey(r *http.Request) (int64, error) { return strconv.ParseInt(r.PathValue("key"), 10, 64) }

func completeFromREST(r *http.Request) (*pb.CompleteJobRequest, error) {
	var b struct{ Variables json.RawMessage }
	key, err := jobKey(r)
	err = errors.Join(err, decode(r, &b))
	return &pb.CompleteJobRequest{JobKey: key, Variables: string(b.Variables)}, err
}

func errorFromREST(r *http.Request) (*pb.ThrowErrorRequest, error) {
	var b struct {
		ErrorCode, ErrorMessage string
		Variables               json.RawMessage
	}
	key, err := jobKey(r)
	err = errors.Join(err, decode(r, &b))
	return &pb.ThrowErrorRequest{JobKey: key, ErrorCode: b.ErrorCode, ErrorMessage: b.ErrorMessage, Variables: string(b.Variables)}, err
}

func failureFromREST(r *http.Request) (*pb.FailJobRequest, error) {
	var b struct {
		Retries      int32
		ErrorMessage string
	}
	key, err := jobKey(r)
	err = errors.Join(err, decode(r, &b))
	return &pb.FailJobRequest{JobKey: key, Retries: b.Retries, ErrorMessage: b.ErrorMessage}, err
}

func updateFromREST(r *http.Request) (*pb.UpdateJobTimeoutRequest, error) {
	var b struct{ Changeset struct{ Timeout int64 } }
	key, err := jobKey(r)
	err = errors.Join(err, decode(r, &b))
	return &pb.UpdateJobTimeoutRequest{JobKey: key, Timeout: b.Changeset.Timeout}, err
}

func topologyFromREST(*http.Request) (*pb.TopologyRequest, error) { return &pb.TopologyRequest{}, nil }

func publicationFromREST(r *http.Request) (*pb.PublishMessageRequest, error) {
	var b struct {
		Name, CorrelationKey, MessageID, TenantID string
		TimeToLive                                int64
		Variables                                 json.RawMessage
	}
	err := decode(r, &b)
	return &pb.PublishMessageRequest{
		Name: b.Name, CorrelationKey: b.CorrelationKey, MessageId: b.MessageID, TenantId: b.TenantID,
		TimeToLive: b.TimeToLive, Variables: string(b.Variables),
	}, err
}

func deploymentFromREST(r *http.Request) (*pb.DeployResourceRequest, error) {
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
