// Package grpc connects to a Camunda 8 cluster by gRPC, through the generated stubs of Zeebe's client.
package grpc

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/transport"
)

const (
	// The gateway cuts connections that ping it more often than every 30 seconds; the rest is for pings that travel
	// at different speeds. The polls, which end every few seconds, notice a dead connection sooner.
	keepAlive        = 35 * time.Second
	keepAliveTimeout = 10 * time.Second

	// A gateway that is back is noticed within reconnectMax. The library's own limit is two minutes.
	reconnectMin, reconnectMax = 50 * time.Millisecond, 5 * time.Second

	// maxReceive is far above what a gateway sends (4 MiB by default), because a batch that is refused here stays
	// locked unnoticed.
	maxReceive = 64 << 20
)

// Dial prepares the connection to a gateway. It does not wait for the gateway, which may come up later. Its error names
// everything that is wrong with the configuration, one fault a line.
func Dial(c transport.Config) (*Client, error) {
	config, err := c.TLS()
	if err != nil {
		return nil, err
	}
	security := insecure.NewCredentials()
	if config != nil {
		security = credentials.NewTLS(config)
	}
	authorizer := c.Authorizer()
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(security),
		grpc.WithUserAgent("analyze-retry"),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepAlive, Timeout: keepAliveTimeout}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: reconnectMin, Multiplier: 1.6, Jitter: 0.2, MaxDelay: reconnectMax},
			MinConnectTimeout: reconnectMax,
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReceive)),
		grpc.WithDisableServiceConfig(), // no look-up of TXT records
		grpc.WithDisableRetry(),         // the job loop tries again itself
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption) error {
			return explain(call(ctx, method, request, reply, conn, o...), authorizer)
		}),
	}
	if c.OverrideAuthority != "" {
		options = append(options, grpc.WithAuthority(c.OverrideAuthority))
	}
	if authorizer != nil {
		caller := callCredentials{authorizer, c.Plaintext()}
		options = append(options, grpc.WithPerRPCCredentials(caller), grpc.WithStatsHandler(caller))
	}
	if c.Dial != nil {
		options = append(options, grpc.WithContextDialer(c.Dial))
	}
	conn, err := grpc.NewClient("dns:///"+c.Address, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to the Zeebe gateway: %w", err)
	}
	return &Client{conn, pb.NewGatewayClient(conn), authorizer}, nil
}

// explain takes the credentials out of an error's text and adds what a port seems to speak instead of gRPC.
func explain(err error, a *transport.Authorizer) error {
	if err == nil {
		return nil
	}
	text := a.Mask(status.Convert(err).Message())
	switch {
	case strings.Contains(text, "error reading server preface"):
		return status.Errorf(status.Code(err), "%s; does this port speak gRPC? grpcs:// is for one with TLS, http:// for the REST API", text)
	case strings.Contains(text, "first record does not look like a TLS handshake"):
		return status.Errorf(status.Code(err), "%s; grpc:// is for a port without TLS", text)
	case strings.Contains(text, "missing selected ALPN property"), strings.Contains(text, "no application protocol"),
		strings.Contains(text, "unexpected HTTP status code received from server"):
		return status.Errorf(status.Code(err), "%s; does this port speak gRPC? https:// is for the REST API", text)
	case text != status.Convert(err).Message():
		return status.Error(status.Code(err), text)
	default:
		return err
	}
}

// callCredentials authorize every call. plaintext is what the configuration has consented to.
type callCredentials struct {
	authorizer *transport.Authorizer
	plaintext  bool
}

// RequireTransportSecurity implements [credentials.PerRPCCredentials]: gRPC itself refuses plaintext where TLS was configured.
func (c callCredentials) RequireTransportSecurity() bool { return !c.plaintext }

// GetRequestMetadata implements [credentials.PerRPCCredentials].
func (c callCredentials) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	header, err := c.authorizer.Header(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]string{"authorization": header}, nil
}

// HandleRPC implements [stats.Handler]. It reports credentials that the gateway refuses.
func (c callCredentials) HandleRPC(_ context.Context, s stats.RPCStats) {
	if end, ok := s.(*stats.End); ok && status.Code(end.Error) == codes.Unauthenticated {
		c.authorizer.Refused()
	}
}

// TagRPC implements [stats.Handler].
func (c callCredentials) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn implements [stats.Handler].
func (c callCredentials) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return ctx
}

// HandleConn implements [stats.Handler].
func (c callCredentials) HandleConn(context.Context, stats.ConnStats) {}
