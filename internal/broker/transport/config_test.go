package transport

import (
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestDialNamesEveryFaultOfTheConfiguration(t *testing.T) {
	const (
		ca, pair = "ZEEBE_CA_CERTIFICATE_PATH: ", "ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH: open "
		gateway  = "zeebe:26500"
	)
	for name, test := range map[string]struct {
		config Config
		want   []string
	}{
		"authority that is no file":        {Config{Scheme: GRPCS, Address: gateway, CACertPath: "testdata/none.pem"}, []string{ca + "stat testdata/none.pem"}},
		"authority that is no certificate": {Config{Scheme: GRPCS, Address: gateway, CACertPath: "config_test.go"}, []string{ca + "config_test.go holds no certificate in PEM"}},
		"certificate that is no file":      {Config{Scheme: GRPCS, Address: gateway, ClientCertPath: "testdata/c.pem", ClientKeyPath: "testdata/k.pem"}, []string{pair + "testdata/c.pem"}},
		"many at once": {
			Config{Scheme: GRPCS, Address: gateway, CACertPath: "none.pem", ClientKeyPath: "k.pem"},
			[]string{ca, "\n" + pair},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.config.TLS()
			if err == nil {
				t.Fatal("no fault found")
			}
			check.Contains(t, err.Error(), test.want...)
		})
	}
}
