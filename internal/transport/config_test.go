package transport

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestDialNamesEveryFaultOfTheConfiguration(t *testing.T) {
	withTokenURL := func(tokenURL string) *OAuthConfig {
		o := goodOAuth
		o.TokenURL = tokenURL
		return &o
	}
	const (
		ca, pair, token = "ZEEBE_CA_CERTIFICATE_PATH: ", "ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH: open ", "refusing to send a token or a password over plaintext"
		client          = "ZEEBE_AUTHORIZATION_SERVER_URL: refusing to send the client secret"
		gateway         = "zeebe:26500"
	)
	for name, test := range map[string]struct {
		config Config
		want   []string
	}{
		"authority that is no file":        {Config{Scheme: GRPCS, Address: gateway, CACertPath: "testdata/none.pem"}, []string{ca + "open testdata/none.pem"}},
		"authority that is no certificate": {Config{Scheme: GRPCS, Address: gateway, CACertPath: "config_test.go"}, []string{ca + "config_test.go holds no certificate in PEM"}},
		"certificate that is no file":      {Config{Scheme: GRPCS, Address: gateway, ClientCertPath: "testdata/c.pem", ClientKeyPath: "testdata/k.pem"}, []string{pair + "testdata/c.pem"}},
		"token over plaintext": {
			Config{Scheme: GRPC, Address: "zeebe.example:26500", OAuth: &goodOAuth},
			[]string{token + " to zeebe.example"},
		},
		"secret over plaintext": {Config{Scheme: GRPCS, Address: gateway, OAuth: withTokenURL("http://login.example/token")}, []string{client}},
		"many at once": {
			Config{Scheme: GRPCS, Address: gateway, CACertPath: "none.pem", ClientKeyPath: "k.pem", OAuth: withTokenURL(secret + "%")},
			[]string{client, "\n" + ca, "\n" + pair},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.config.TLS()
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

func TestTokenMayGoOverPlaintextToThisMachineOrWithConsent(t *testing.T) {
	inCluster := goodOAuth
	inCluster.TokenURL = "http://keycloak.example/token"
	for _, c := range []Config{
		{Scheme: GRPC, Address: "localhost:26500", OAuth: &goodOAuth},
		{Scheme: HTTP, Address: "127.9.9.9:8080", OAuth: &goodOAuth},
		{Scheme: HTTP, Address: "[::1]:8080", Basic: &Basic{User: "demo", Password: secret}},
		{Scheme: GRPC, Address: "zeebe.example:26500", OAuth: &inCluster, AllowInsecureToken: true},
	} {
		if _, err := c.TLS(); err != nil {
			t.Error(err)
		}
	}
}
