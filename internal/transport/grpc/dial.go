// Package grpc connects to a Camunda 8 cluster by gRPC, through the generated stubs of Zeebe's client.
package grpc

import (
	"context"
	"fmt"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
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
		grpc.WithAuthority(c.OverrideAuthority),
		grpc.WithContextDialer(c.Dial),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepAlive, Timeout: keepAliveTimeout}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: reconnectMin, Multiplier: 1.6, Jitter: 0.2, MaxDelay: reconnectMax},
			MinConnectTimeout: reconnectMax,
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(transport.MaxAnswer)),
		grpc.WithDisableServiceConfig(), // no look-up of TXT records, and so no retries: the job loop tries again itself
		grpc.WithUnaryInterceptor(func(
			ctx context.Context, method string, request, reply any,
			conn *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption,
		) error {
			return failed(call(ctx, method, request, reply, conn, o...), authorizer)
		}),
	}
	if authorizer != nil {
		options = append(options, grpc.WithPerRPCCredentials(callCredentials{authorizer, c.Plaintext()}))
	}
	conn, err := grpc.NewClient("dns:///"+c.Address, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to the Zeebe gateway: %w", err)
	}
	return &Client{conn, pb.NewGatewayClient(conn), authorizer}, nil
}

// failed returns the error of a call as it may be logged.
func failed(err error, a *transport.Authorizer) error {
	if err == nil {
		return nil
	}
	return a.Fail(status.Code(err), status.Convert(err).Message())
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
