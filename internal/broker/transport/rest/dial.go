// Package rest connects to a Camunda 8 cluster by its Orchestration Cluster REST API (v2), which Camunda has
// from 8.8 on.
package rest

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/broker/transport"
)

// Dial prepares the connection to a gateway. It does not wait for the gateway, which may come up later. Its
// error names everything that is wrong with the configuration, one fault a line.
func Dial(c transport.Config) (*Client, error) {
	config, err := c.TLS()
	if err != nil {
		return nil, err
	}
	if config != nil && c.OverrideAuthority != "" {
		config.ServerName = (&url.URL{Host: c.OverrideAuthority}).Hostname()
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
		host:       cmp.Or(c.OverrideAuthority, c.Address),
		turn:       semaphore.NewWeighted(1),
		authorizer: c.Authorizer(),
		http:       by,
	}, nil
}

// Found returns the address at which the REST API answers on the host of a gateway that does not: at its
// port, or at 8080, the usual one. It is empty where none does. It sends no credentials.
func Found(ctx context.Context, c transport.Config) string {
	c.Scheme = strings.Replace(c.Scheme, "grpc", "http", 1)
	c.OAuth, c.User = nil, ""
	host, port, _ := net.SplitHostPort(c.Address)
	for _, port := range []string{port, "8080"} {
		c.Address = net.JoinHostPort(host, port)
		client, err := Dial(c)
		if err != nil {
			return ""
		}
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, err = client.Topology(limited)
		cancel()
		_ = client.Close()
		switch transport.Code(err) {
		case codes.OK, codes.Unauthenticated, codes.PermissionDenied:
			return c.Scheme + "://" + c.Address
		default: // it is not there
		}
	}
	return ""
}
