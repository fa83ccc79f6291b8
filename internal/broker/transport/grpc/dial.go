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

	"hospital.example/analyze-retry/internal/broker/transport"
)

const (
	// The gateway cuts connections that ping it more often than every 30 seconds; the rest is for pings that
	// travel at different speeds. The polls, which end every few seconds, notice a dead connection sooner.
	keepAlive = 35 * time.Second
	// A gateway that is back is noticed within reconnectMax. The library's own limit is two minutes.
	reconnectMax = 5 * time.Second
)

// Dial prepares the connection to a gateway. It does not wait for the gateway, which may come up later. Its
// error names everything that is wrong with the configuration, one fault a line.
func Dial(c transport.Config) (*Client, error) {
	config, err := c.TLS()
	if err != nil {
		return nil, err
	}
	security := insecure.NewCredentials()
	if config != nil {
		security = credentials.NewTLS(config)
	}
	reconnect := backoff.DefaultConfig
	reconnect.MaxDelay = reconnectMax
	authorizer := c.Authorizer()
	conn, err := grpc.NewClient("dns:///"+c.Address,
		grpc.WithTransportCredentials(security),
		grpc.WithPerRPCCredentials(authorizer),
		grpc.WithContextDialer(c.Dial),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepAlive, Timeout: 10 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: reconnectMax}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(transport.MaxAnswer)),
		grpc.WithDisableServiceConfig(), // no look-up of TXT records, and no tries but the job loop's
		grpc.WithUnaryInterceptor(func(
			ctx context.Context, method string, request, reply any,
			conn *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption,
		) error {
			return failed(call(ctx, method, request, reply, conn, o...), authorizer)
		}),
	)
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
