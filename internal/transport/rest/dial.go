// Package rest connects to a Camunda 8 cluster by its Orchestration Cluster REST API (v2), which Camunda has from 8.8 on.
package rest

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/transport"
)

const (
	// keepAlive is after how much silence an HTTP/2 connection is probed, keepAliveTimeout how long its answer may take.
	keepAlive        = 15 * time.Second
	keepAliveTimeout = 10 * time.Second

	// maxIdle is how many connections are kept when HTTP/2 is not spoken: the job loop sends 32 answers at a time, next to a
	// poll and a query.
	maxIdle = 34
	// idleTimeout is shorter than that of servers and proxies (a minute, as a rule), so that a call is hardly ever sent
	// on a connection that the other side is just closing.
	idleTimeout = 10 * time.Second

	// maxHeader is the size in bytes up to which the header of an answer is read.
	maxHeader = 64 << 10
)

// Dial prepares the connection to a gateway. It does not wait for the gateway, which may come up later. Its error names
// everything that is wrong with the configuration, one fault a line.
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
	by.HTTP2 = &http.HTTP2Config{SendPingTimeout: keepAlive, PingTimeout: keepAliveTimeout}
	by.MaxIdleConnsPerHost = maxIdle
	by.IdleConnTimeout = idleTimeout
	by.MaxResponseHeaderBytes = maxHeader
	if c.Dial != nil { // as with gRPC, the environment's proxies are for connections that are made here
		by.Proxy = nil
		by.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) { return c.Dial(ctx, address) }
	}
	base := url.URL{Scheme: c.Scheme, Host: c.Address, Path: c.Path + "/v2"}
	return &Client{base.String(), cmp.Or(c.OverrideAuthority, c.Address), c.Authorizer(), by}, nil
}

// usualPort is that of the REST API.
const usualPort = "8080"

// Found returns the address at which the REST API answers on the host of a gateway that does not: at its port, or at the usual
// one. It is empty where none does. It sends no credentials.
func Found(ctx context.Context, c transport.Config) string {
	c.Scheme = strings.Replace(c.Scheme, "grpc", "http", 1)
	c.OAuth, c.User = nil, ""
	host, port, _ := net.SplitHostPort(c.Address)
	for _, port := range []string{port, usualPort} {
		c.Address = net.JoinHostPort(host, port)
		client, err := Dial(c)
		if err != nil {
			return ""
		}
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, err = client.Topology(limited)
		cancel()
		_ = client.Close()
		if code := transport.Code(err); code == codes.OK || code == codes.Unauthenticated || code == codes.PermissionDenied {
			return c.Scheme + "://" + c.Address
		}
	}
	return ""
}
