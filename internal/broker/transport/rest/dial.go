// Package rest connects to a Camunda 8 cluster by its Orchestration Cluster REST API (v2), which Camunda has
// from 8.8 on.
package rest

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"

	"hospital.example/analyze-retry/internal/broker/transport"
)

// Dial prepares the connection to a gateway. It does not wait for the gateway, which may come up later. Its
// error names everything that is wrong with the configuration, one fault a line.
func Dial(c transport.Config) (*Client, error) {
	config, err := c.TLS()
	if err != nil {
		return nil, err
	}
	by := http.DefaultTransport.(*http.Transport).Clone()
	by.TLSClientConfig = config
	by.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second} // or a dead connection would stay in use
	// Where HTTP/2 is not spoken the job loop sends 32 answers at a time, next to a poll and a query.
	by.MaxIdleConnsPerHost = 34
	// Servers and proxies close theirs after a minute, as a rule. A call that is sent just then is lost.
	by.IdleConnTimeout = 10 * time.Second
	by.MaxResponseHeaderBytes = 64 << 10
	if c.Dial != nil { // as with gRPC, the environment's proxies are for connections that are made here
		by.Proxy = nil
		by.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) {
			return c.Dial(ctx, address)
		}
	}
	base := url.URL{Scheme: c.Scheme, Host: c.Address, Path: c.Path + "/v2"}
	return &Client{
		base:       base.String(),
		authorizer: c.Authorizer(),
		http:       by,
	}, nil
}
