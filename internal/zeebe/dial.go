package zeebe

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"hospital.example/analyze-retry/internal/loopback"
	"hospital.example/analyze-retry/internal/readfile"
)

// Config configures the connection to a gateway. The environment variables are those of Zeebe's own clients, by which
// errors name the settings.
type Config struct {
	// Address is the gateway's host:port (ZEEBE_ADDRESS).
	Address string
	// Plaintext turns TLS off (ZEEBE_INSECURE_CONNECTION).
	Plaintext bool
	// CACertPath is a PEM file of the authorities to trust; empty for those of the system (ZEEBE_CA_CERTIFICATE_PATH).
	CACertPath string
	// ClientCertPath and ClientKeyPath are PEM files of the certificate to show to the gateway, or to the proxy in front
	// of it (ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH). Both or neither.
	ClientCertPath, ClientKeyPath string
	// OverrideAuthority is the host name to send and to find in the gateway's certificate, if it is not that of the
	// address (ZEEBE_OVERRIDE_AUTHORITY).
	OverrideAuthority string
	// OAuth is nil if the gateway requires no token.
	OAuth *OAuthConfig
}

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
func Dial(c Config) (*Client, error) { return dial(c) }

// dial also takes options with which tests connect through a pipe.
func dial(c Config, extra ...grpc.DialOption) (*Client, error) {
	security, err := c.transport()
	if err := errors.Join(err, c.checkSecrets()); err != nil {
		return nil, err
	}
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
	}
	if c.OverrideAuthority != "" {
		options = append(options, grpc.WithAuthority(c.OverrideAuthority))
	}
	if c.OAuth != nil {
		t := newTokens(*c.OAuth, c.Plaintext)
		options = append(options, grpc.WithPerRPCCredentials(t), grpc.WithStatsHandler(t))
	}
	options = append(options, extra...)
	conn, err := grpc.NewClient("dns:///"+c.Address, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to the Zeebe gateway: %w", err)
	}
	return &Client{conn, pb.NewGatewayClient(conn)}, nil
}

// transport returns no security, or TLS 1.2 or newer.
func (c Config) transport() (credentials.TransportCredentials, error) {
	if c.Plaintext {
		return insecure.NewCredentials(), nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	var authorities, certificate error
	if c.CACertPath != "" {
		var err error
		if config.RootCAs, err = readfile.Authorities(c.CACertPath); err != nil {
			authorities = fmt.Errorf("ZEEBE_CA_CERTIFICATE_PATH: %w", err)
		}
	}
	if c.ClientCertPath != "" || c.ClientKeyPath != "" {
		pair, err := readfile.Pair(c.ClientCertPath, c.ClientKeyPath)
		if err != nil {
			certificate = fmt.Errorf("ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return credentials.NewTLS(config), errors.Join(authorities, certificate)
}

// checkSecrets refuses to send a token or the client secret where others can read it. The settings are checked for that
// too, with everything else; but a secret that got out cannot be taken back, so this holds for every caller.
func (c Config) checkSecrets() error {
	if c.OAuth == nil {
		return nil
	}
	var token, secret error
	host, _, _ := net.SplitHostPort(c.Address) // empty, and so not loopback, if that is no address
	if c.Plaintext && !loopback.Is(host) {
		token = fmt.Errorf("ZEEBE_INSECURE_CONNECTION=true: refusing to send a token over plaintext to a host that is not loopback (%s)", host)
	}
	u, err := url.Parse(c.OAuth.TokenURL)
	if err != nil || u.Scheme != "https" && !loopback.Is(u.Hostname()) {
		// Without the URL, which may hold a password.
		secret = errors.New("ZEEBE_AUTHORIZATION_SERVER_URL: refusing to send the client secret without TLS to a host that is not loopback")
	}
	return errors.Join(token, secret)
}
