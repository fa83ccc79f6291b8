// Package collectortest is a collector of OpenTelemetry in the process of a test: a real server for OTLP, over gRPC or
// HTTP, that keeps what it is sent.
package collectortest

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"hospital.example/analyze-retry/internal/testing/check"
)

// Collector is the collector. Its methods may be called at any time.
type Collector struct {
	collector.UnimplementedTraceServiceServer
	// URL is what OTEL_EXPORTER_OTLP_ENDPOINT is to be set to.
	URL string

	mu          sync.Mutex
	spans       []Span
	sent        strings.Builder
	headers     []http.Header
	connections int
	refusal     string
	hangs       chan struct{} // closed when it hangs no more; nil while it does not
	hanging     int
}

// Span is a span as it came, in words.
type Span struct {
	Name, Kind string
	// Trace, ID and Parent are in hexadecimal digits; Parent is empty for the root of a trace.
	Trace, ID, Parent string
	// Links are what the span is linked to, each as trace-span.
	Links []string
	// Attributes are the span's, Resource those of the process; all are texts here.
	Attributes, Resource map[string]string
	// Error is the text of the status where that is an error, "" elsewhere.
	Error      string
	Start, End time.Time
}

// Traceparent returns the span as W3C writes it.
func (s Span) Traceparent() string { return "00-" + s.Trace + "-" + s.ID + "-01" }

// StartGRPC starts a collector that speaks gRPC, for the time of the test.
func StartGRPC(t *testing.T) *Collector {
	t.Helper()
	c := &Collector{}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, c)
	l := c.listen(t)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { c.Work(); server.Stop() })
	return c
}

// StartHTTP starts a collector that speaks HTTP, for the time of the test.
func StartHTTP(t *testing.T) *Collector {
	t.Helper()
	c := &Collector{}
	server := &http.Server{Handler: http.HandlerFunc(c.serve), ReadHeaderTimeout: time.Minute}
	l := c.listen(t)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { c.Work(); _ = server.Close() })
	return c
}

func (c *Collector) listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	c.URL = "http://" + l.Addr().String()
	return counting{l, c}
}

// counting counts the connections of a listener.
type counting struct {
	net.Listener
	collector *Collector
}

func (l counting) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.collector.mu.Lock()
		l.collector.connections++
		l.collector.mu.Unlock()
	}
	return conn, err
}

// Hang makes it leave requests without an answer, until Work.
func (c *Collector) Hang() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hangs = make(chan struct{})
}

// Work ends Hang and Refuse.
func (c *Collector) Work() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hangs != nil {
		close(c.hangs)
	}
	c.hangs, c.refusal = nil, ""
}

// Refuse makes it answer all requests with an error of this text, until Work.
func (c *Collector) Refuse(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusal = text
}

// Connections returns how often it was dialled.
func (c *Collector) Connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.connections
}

// Hanging returns how many requests have come while it hung.
func (c *Collector) Hanging() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hanging
}

// Sent returns all that it was sent, as text.
func (c *Collector) Sent() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent.String()
}

// Headers returns those of all requests.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.headers)
}

// Spans returns those that it has taken.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Await waits until it has taken so many spans, and returns all of them.
func (c *Collector) Await(t *testing.T, n int) []Span {
	t.Helper()
	check.Await(t, fmt.Sprintf("%d spans come", n), func() bool { return len(c.Spans()) >= n })
	return c.Spans()
}

// Export takes spans by gRPC.
func (c *Collector) Export(ctx context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	header := http.Header{}
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		for name, values := range md {
			header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if err := c.take(ctx, header, request); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error()) // one that is not tried again
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// serve takes spans by HTTP.
func (c *Collector) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := &collector.ExportTraceServiceRequest{}
	if err == nil {
		err = proto.Unmarshal(body, request)
	}
	if r.URL.Path != "/v1/traces" {
		err = fmt.Errorf("no %s here", r.URL.Path)
	}
	if err == nil {
		err = c.take(r.Context(), r.Header, request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (c *Collector) take(ctx context.Context, header http.Header, request *collector.ExportTraceServiceRequest) error {
	c.mu.Lock()
	hangs := c.hangs
	if hangs != nil {
		c.hanging++
	}
	c.mu.Unlock()
	if hangs != nil {
		select {
		case <-hangs:
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers = append(c.headers, header)
	if c.refusal != "" {
		return fmt.Errorf("%s", c.refusal)
	}
	_, _ = c.sent.WriteString(request.String())
	for _, r := range request.ResourceSpans {
		about := texts(r.GetResource().GetAttributes())
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, spanOf(s, about))
			}
		}
	}
	return nil
}

func spanOf(s *trace.Span, about map[string]string) Span {
	span := Span{
		Name: s.Name, Kind: strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_"),
		Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId),
		Attributes: texts(s.Attributes), Resource: maps.Clone(about),
		Start: time.Unix(0, int64(s.StartTimeUnixNano)), End: time.Unix(0, int64(s.EndTimeUnixNano)),
	}
	for _, l := range s.Links {
		span.Links = append(span.Links, hex.EncodeToString(l.TraceId)+"-"+hex.EncodeToString(l.SpanId))
	}
	if s.GetStatus().GetCode() == trace.Status_STATUS_CODE_ERROR {
		span.Error = s.Status.Message
	}
	return span
}

func texts(attributes []*common.KeyValue) map[string]string {
	found := map[string]string{}
	for _, a := range attributes {
		switch v := a.Value.GetValue().(type) {
		case *common.AnyValue_StringValue:
			found[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			found[a.Key] = fmt.Sprint(v.IntValue)
		case *common.AnyValue_BoolValue:
			found[a.Key] = fmt.Sprint(v.BoolValue)
		default:
			found[a.Key] = fmt.Sprintf("%v", v)
		}
	}
	return found
}
