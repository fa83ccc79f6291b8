// Package rest connects to a Camunda 8 cluster by its Orchestration Cluster REST API (v2), which Camunda has from 8.8 on.
package rest

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

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

	// maxReceive is far above what a gateway sends (4 MiB by default), because a batch that is refused here stays
	// locked unnoticed. maxProblem is the same for the text of an error.
	maxReceive = 64 << 20
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
	proxy, connect := http.ProxyFromEnvironment, func(ctx context.Context, address string) (net.Conn, error) {
		return (&net.Dialer{Timeout: connectTimeout}).DialContext(ctx, "tcp", address)
	}
	if c.Dial != nil { // as with gRPC, the environment's proxies are for connections that are made here
		proxy, connect = nil, c.Dial
	}
	closing, stop := context.WithCancel(context.Background())
	return &Client{
		base:       base.String(),
		host:       cmp.Or(c.OverrideAuthority, c.Address),
		plaintext:  c.Plaintext(),
		limit:      maxReceive,
		authorizer: c.Authorizer(),
		closing:    closing,
		stop:       stop,
		http: &http.Transport{
			Proxy:                  proxy,
			DialContext:            dialer{closing, c.Plaintext(), connect}.dial,
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

// dialer makes connections that end with the client.
type dialer struct {
	closing   context.Context // the client's life, not a call's
	plaintext bool
	connect   func(ctx context.Context, address string) (net.Conn, error)
}

func (d dialer) dial(ctx context.Context, _, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.closing, cancel)()
	c, err := d.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, unread: d.plaintext, forget: context.AfterFunc(d.closing, func() { _ = c.Close() })}, nil
}

// conn is a connection that is closed with the client.
type conn struct {
	net.Conn
	forget func() bool
	unread bool // and in plaintext
}

func (c *conn) Close() error {
	c.forget()
	return c.Conn.Close()
}

// Read implements [net.Conn]. It looks at how the other side begins.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.unread && n > 0 {
		c.unread = false
		switch begin := b[:n]; {
		case n > 3 && begin[0] == 0 && begin[3] == 4: // HTTP/2's frame with the settings
			return 0, errGRPC
		case n > 1 && begin[0] == 0x15 && begin[1] == 3: // an alert of TLS
			return 0, errTLS
		}
	}
	return n, err
}
