// Package rest connects to a Camunda 8 cluster by its Orchestration Cluster REST API (v2), which Camunda has from 8.8 on.
package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/transport"
)

const (
	// connectTimeout bounds the making of a connection, and the TLS handshake after it.
	connectTimeout = 5 * time.Second

	// keepAlive is after how much silence an HTTP/2 connection is probed, keepAliveTimeout how long its answer may take.
	keepAlive        = 15 * time.Second
	keepAliveTimeout = 10 * time.Second

	// maxIdle is how many connections are kept when HTTP/2 is not spoken: the job loop sends 32 answers at a time, next to a
	// poll and a query.
	maxIdle = 34
	// idleTimeout is shorter than that of servers and proxies (a minute, as a rule), so that a call is hardly ever sent
	// on a connection that the other side is just closing.
	idleTimeout = 10 * time.Second

	// maxProblem is the size in bytes up to which an error is read.
	maxProblem = 64 << 10
)

// Dial prepares the connection to a gateway. It does not wait for the gateway, which may come up later. Its error names
// everything that is wrong with the configuration, one fault a line.
func Dial(c transport.Config) (*Client, error) {
	config, err := c.TLS()
	if err != nil {
		return nil, err
	}
	if config != nil && c.OverrideAuthority != "" {
		config.ServerName = c.OverrideAuthority
		if host, _, err := net.SplitHostPort(c.OverrideAuthority); err == nil {
			config.ServerName = host
		}
	}
	base := url.URL{Scheme: c.Scheme, Host: c.Address, Path: c.Path + "/v2"}
	if _, err := url.Parse(base.String()); err != nil {
		return nil, fmt.Errorf("connect to Camunda's REST API: %w", err)
	}
	proxy, connect := http.ProxyFromEnvironment, c.Dial
	if connect != nil { // as with gRPC, the environment's proxies are for connections that are made here
		proxy = nil
	} else {
		connect = func(ctx context.Context, address string) (net.Conn, error) {
			return (&net.Dialer{Timeout: connectTimeout}).DialContext(ctx, "tcp", address)
		}
	}
	return &Client{
		base:       base.String(),
		host:       cmp.Or(c.OverrideAuthority, c.Address),
		plaintext:  c.Plaintext(),
		large:      semaphore.NewWeighted(1),
		authorizer: c.Authorizer(),
		http: &http.Transport{
			Proxy: proxy,
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				made, err := connect(ctx, address)
				if err != nil || !c.Plaintext() {
					return made, err
				}
				return &conn{Conn: made, unread: true}, nil
			},
			TLSClientConfig:        config,
			TLSHandshakeTimeout:    connectTimeout,
			ForceAttemptHTTP2:      true, // as it would be without a DialContext
			HTTP2:                  &http.HTTP2Config{SendPingTimeout: keepAlive, PingTimeout: keepAliveTimeout},
			MaxIdleConnsPerHost:    maxIdle,
			IdleConnTimeout:        idleTimeout,
			MaxResponseHeaderBytes: maxProblem,
			DisableCompression:     true,
		},
	}, nil
}

// conn is a connection in plaintext.
type conn struct {
	net.Conn
	unread bool
}

// Read implements [net.Conn]. It looks at how the other side begins: net/http needs a whole line for that, which neither a
// gateway of Java nor TLS sends.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.unread && n > 0 {
		c.unread = false
		switch begin := b[:n]; {
		case n > 3 && begin[0] == 0 && begin[3] == 4: // HTTP/2's frame with the settings
			return 0, errors.New(transport.SpeaksGRPC)
		case n > 1 && begin[0] == 0x15 && begin[1] == 3: // an alert of TLS
			return 0, errors.New(transport.SpeaksTLS)
		}
	}
	return n, err
}

// usualPort is that of the REST API.
const usualPort = "8080"

// Found returns the address at which the REST API answers on the host of a gateway whose gRPC port refuses: at that port, or
// at the usual one. It is empty where none does. It sends no credentials.
func Found(ctx context.Context, c transport.Config) string {
	c.Scheme = map[string]string{transport.GRPC: transport.HTTP, transport.GRPCS: transport.HTTPS}[c.Scheme]
	c.OAuth, c.Basic = nil, nil
	host, port, err := net.SplitHostPort(c.Address)
	if err != nil || c.Scheme == "" {
		return ""
	}
	for _, port := range []string{port, usualPort} {
		c.Address = net.JoinHostPort(host, port)
		client, err := Dial(c)
		if err != nil {
			return ""
		}
		limited, cancel := context.WithTimeout(ctx, connectTimeout)
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
