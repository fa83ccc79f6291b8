package zeebe

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"
)

// Config says how to reach a gateway. The environment variables named are those by which Zeebe's own clients are
// set up; they are named here so that a fault can name them.
type Config struct {
	// Address is the gateway's host:port (ZEEBE_ADDRESS).
	Address string
	// Plaintext turns TLS off (ZEEBE_INSECURE_CONNECTION).
	Plaintext bool
	// CACertPath is a PEM file of the authorities to trust; without it, those of the system (ZEEBE_CA_CERTIFICATE_PATH).
	CACertPath string
	// ClientCertPath and ClientKeyPath are PEM files of the certificate to show to the gateway, or to the proxy in front
	// of it (ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH). Both or neither.
	ClientCertPath, ClientKeyPath string
	// OverrideAuthority is the host name to ask for and to find in the gateway's certificate, where it is not the one
	// of the address (ZEEBE_OVERRIDE_AUTHORITY).
	OverrideAuthority string
	// OAuth is nil where the gateway asks for no token.
	OAuth *OAuthConfig
}

const (
	// The gateway cuts connections that ping it more often than every 30 seconds; the rest is for pings that travel
	// at different speeds. A dead connection is noticed sooner by the polls, which end every few seconds.
	keepAlive        = 35 * time.Second
	keepAliveTimeout = 10 * time.Second

	// A gateway that is back is noticed within reconnectMax. The library's own limit is two minutes.
	reconnectMin, reconnectMax = 50 * time.Millisecond, 5 * time.Second

	// maxReceive is far above what a gateway sends (4 MiB by default), because a batch that is refused here stays
	// locked and is seen by nobody.
	maxReceive = 64 << 20
)

// Dial prepares the connection to a gateway. It does not wait for the gateway, which may come up later; a faulty
// configuration is an error that tells all its faults, one a line.
func Dial(c Config) (*Client, error) { return dial(c) }

// dial lets tests connect by a pipe.
func dial(c Config, extra ...grpc.DialOption) (*Client, error) {
	credentials, err := c.transport()
	if err := errors.Join(err, c.checkSecrets()); err != nil {
		return nil, err
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(credentials),
		grpc.WithUserAgent("analyze-retry"),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepAlive, Timeout: keepAliveTimeout}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           grpcbackoff.Config{BaseDelay: reconnectMin, Multiplier: 1.6, Jitter: 0.2, MaxDelay: reconnectMax},
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
		options = append(options, newTokens(*c.OAuth, c.Plaintext).dialOptions()...)
	}
	options = append(options, extra...)
	conn, err := grpc.NewClient("dns:///"+c.Address, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to the Zeebe gateway: %w", err)
	}
	return &Client{conn, pb.NewGatewayClient(conn)}, nil
}

// checkSecrets refuses to send a token or the client secret where others can read it. Whoever reads the configuration
// checks it for that too, with all else that can be wrong there; but a secret that got out cannot be taken back, so this
// holds for every caller.
func (c Config) checkSecrets() error {
	if c.OAuth == nil {
		return nil
	}
	var token, secret error
	host, _, _ := net.SplitHostPort(c.Address) // empty, and so not loopback, where that is no address
	if c.Plaintext && !isLoopback(host) {
		token = fmt.Errorf("ZEEBE_INSECURE_CONNECTION=true: refusing to send a token over plaintext to a host that is not loopback (%s)", host)
	}
	u, err := url.Parse(c.OAuth.TokenURL)
	if err != nil || u.Scheme != "https" && !isLoopback(u.Hostname()) {
		// Without the URL, which may hold a password.
		secret = errors.New("ZEEBE_AUTHORIZATION_SERVER_URL: refusing to send the client secret without TLS to a host that is not loopback")
	}
	return errors.Join(token, secret)
}

// isLoopback reports whether what is sent to the host does not leave this machine.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
