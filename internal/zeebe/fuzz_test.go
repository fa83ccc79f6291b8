package zeebe

import (
	"context"
	"encoding/binary"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/transport"
	transportgrpc "hospital.example/analyze-retry/internal/transport/grpc"
)

// rawCodec passes messages on as bytes, so that a gateway can send any.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// serveRaw answers every call with these messages and this code.
func serveRaw(l net.Listener, messages [][]byte, code codes.Code) *grpc.Server {
	server := grpc.NewServer(grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
		var request []byte
		if err := s.RecvMsg(&request); err != nil {
			return err
		}
		for _, m := range messages {
			if err := s.SendMsg(m); err != nil {
				return err
			}
		}
		return status.Error(code, "scripted")
	}))
	go func() { _ = server.Serve(l) }()
	return server
}

// FuzzGateway sends what a gateway might, as raw messages and codes: the worker survives, works only what it could have
// asked for, and stops.
func FuzzGateway(f *testing.F) {
	add := func(code codes.Code, jobs ...*pb.ActivatedJob) {
		m, err := proto.Marshal(&pb.ActivateJobsResponse{Jobs: jobs})
		check.Must(f, err)
		f.Add(m, m, uint32(code))
	}
	good := &pb.ActivatedJob{Key: 1, Type: testType, Retries: 3, Variables: `{"a":1}`, CustomHeaders: "{}", TenantId: "<default>", Deadline: time.Now().UnixMilli()}
	add(codes.OK)
	add(codes.OK, good, good)
	add(codes.Unavailable, good)
	add(codes.OK, &pb.ActivatedJob{}, &pb.ActivatedJob{Key: -1, Type: testType, Retries: -1, Deadline: -1})
	add(codes.Code(4711), &pb.ActivatedJob{Key: 2, Type: testType, Variables: `[`, Retries: 1 << 30})
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}, []byte("<html>"), uint32(0))
	f.Add(binary.AppendUvarint([]byte{0x0a}, 1<<62), []byte{}, uint32(2))
	f.Fuzz(func(t *testing.T, first, second []byte, code uint32) {
		synctest.Test(t, func(t *testing.T) {
			l := bufconn.Listen(1 << 16)
			server := serveRaw(l, [][]byte{first, second}, codes.Code(code))
			defer server.Stop()
			client, err := transportgrpc.Dial(transport.Config{
				Scheme: transport.GRPC, Address: "127.0.0.1:1", Dial: func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) },
			})
			check.Must(t, err)
			defer func() { _ = client.Close() }()
			var mu sync.Mutex
			var faults []string
			w := NewWorker(client, Options{MaxJobsActive: 5, Handler: handlerFunc(func(ctx context.Context, jobs []job.Job) []job.Answer {
				mu.Lock()
				defer mu.Unlock()
				keys := map[int64]bool{}
				for _, j := range jobs {
					if j.Key <= 0 || j.Type != testType || keys[j.Key] {
						faults = append(faults, j.Type)
					}
					keys[j.Key] = true
				}
				if len(jobs) == 0 || len(jobs) > 5 {
					faults = append(faults, "a batch that is empty or too large")
				}
				return each(complete)(ctx, jobs)
			})}.withDefaults(zap.NewNop()))
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			defer stop()
			_ = w.Run(ctx) // it may leave jobs locked: nothing accepts its answers
			if slices.Sort(faults); len(faults) > 0 {
				t.Errorf("worked what was not asked for: %q", faults)
			}
		})
	})
}
