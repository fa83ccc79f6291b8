package transport

import (
	"testing"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestEveryFaultOfTheCertificatesIsNamed(t *testing.T) {
	_, err := Config{Cluster: config.Cluster{
		ZeebeAddress: "grpcs://zeebe", ZeebeCACertificate: "config_test.go", ZeebeClientCertificate: "c.pem", ZeebeClientKey: "k.pem",
	}}.TLS()
	check.Fails(t, err, "ZEEBE_CA_CERTIFICATE_PATH: config_test.go holds no certificate in PEM",
		"\nZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH: open c.pem")
	_, err = Config{Cluster: config.Cluster{ZeebeAddress: "https://zeebe", ZeebeCACertificate: "none.pem", ZeebeClientKey: "k.pem"}}.TLS()
	check.Fails(t, err, "ZEEBE_CA_CERTIFICATE_PATH: stat none.pem", "\nZEEBE_CLIENT_CERTIFICATE_PATH, ")
}
