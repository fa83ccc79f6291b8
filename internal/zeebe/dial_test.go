package zeebe

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

// goodOAuth is a configuration without a fault.
var goodOAuth = OAuthConfig{ClientID: "id", ClientSecret: secret, TokenURL: "https://login.example/token", Audience: "zeebe"}

func TestDialNamesEveryFaultOfTheConfiguration(t *testing.T) {
	withTokenURL := func(tokenURL string) *OAuthConfig {
		o := goodOAuth
		o.TokenURL = tokenURL
		return &o
	}
	const (
		ca, pair, token = "ZEEBE_CA_CERTIFICATE_PATH: ", "ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH: open ", "refusing to send a token over plaintext"
		client          = "ZEEBE_AUTHORIZATION_SERVER_URL: refusing to send the client secret"
		gateway         = "zeebe:26500"
	)
	for name, test := range map[string]struct {
		config Config
		want   []string
	}{
		"authority that is no file":        {Config{Address: gateway, CACertPath: "testdata/none.pem"}, []string{ca + "open testdata/none.pem"}},
		"authority that is no certificate": {Config{Address: gateway, CACertPath: "dial_test.go"}, []string{ca + "dial_test.go holds no certificate in PEM"}},
		"certificate without key":          {Config{Address: gateway, ClientCertPath: "dial_test.go"}, []string{pair + ": "}},
		"key without certificate":          {Config{Address: gateway, ClientKeyPath: "dial_test.go"}, []string{pair + ": "}},
		"certificate that is no file":      {Config{Address: gateway, ClientCertPath: "testdata/c.pem", ClientKeyPath: "testdata/k.pem"}, []string{pair + "testdata/c.pem"}},
		"token over plaintext": {
			Config{Address: "zeebe.example:26500", Plaintext: true, OAuth: &goodOAuth},
			[]string{token + " to a host that is not loopback (zeebe.example)"},
		},
		"token over plaintext to a private address": {
			Config{Address: "10.0.0.1:26500", Plaintext: true, OAuth: &goodOAuth},
			[]string{token + " to a host that is not loopback (10.0.0.1)"},
		},
		"token over plaintext to what is no address": {Config{Address: "127.0.0.1", Plaintext: true, OAuth: &goodOAuth}, []string{token}},
		"secret over plaintext":                      {Config{Address: gateway, OAuth: withTokenURL("http://login.example/token")}, []string{client}},
		"URL that is none":                           {Config{Address: gateway, OAuth: withTokenURL("login:" + secret)}, []string{client}},
		"many at once": {
			Config{Address: gateway, CACertPath: "none.pem", ClientKeyPath: "k.pem", OAuth: withTokenURL(secret + "%")},
			[]string{ca, "\n" + pair, "\n" + client},
		},
		"many at once, in plaintext": {
			Config{Address: gateway, Plaintext: true, OAuth: &OAuthConfig{}},
			[]string{"ZEEBE_INSECURE_CONNECTION", "\n" + client},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Dial(test.config)
			if err == nil {
				t.Fatal("no fault found")
			}
			check.Contains(t, err.Error(), test.want...)
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the secret stands in %q", err)
			}
		})
	}
}

func TestTokenMayGoOverPlaintextToThisMachine(t *testing.T) {
	for _, host := range []string{"localhost", "127.9.9.9", "::1"} {
		c, err := Dial(Config{Address: net.JoinHostPort(host, "26500"), Plaintext: true, OAuth: &goodOAuth})
		if err != nil {
			t.Error(err)
			continue
		}
		_ = c.Close()
	}
}

func TestAGatewayThatIsBackIsFoundSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := gatewaytest.New(), gatewaytest.New()
		defer first.Close()
		defer second.Close()
		var there atomic.Pointer[gatewaytest.Gateway]
		there.Store(first)
		c, err := dial(Config{Address: "127.0.0.1:1", Plaintext: true},
			grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
				return there.Load().Pipe()(ctx, address)
			}))
		check.Must(t, err)
		defer func() { _ = c.Close() }()
		topology := func() codes.Code {
			_, err := c.Topology(t.Context())
			return status.Code(err)
		}
		if code := topology(); code != codes.OK {
			t.Fatalf("gateway answers %v", code)
		}
		first.Close()
		for range 540 { // long enough for the pauses between tries to have grown
			if code := topology(); code != codes.Unavailable {
				t.Fatalf("a gateway that is away answers %v", code)
			}
			<-time.After(time.Second)
		}
		there.Store(second)
		const jitter = reconnectMax / 5
		for back := time.Now(); topology() != codes.OK; <-time.After(100 * time.Millisecond) {
			if away := time.Since(back); away > reconnectMax+jitter {
				t.Fatalf("not found after %v", away)
			}
		}
	})
}
