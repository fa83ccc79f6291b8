package zeebe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"hospital.example/analyze-retry/internal/testing/certtest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

// authority issues the certificates of a test and keeps them in files.
type authority struct {
	*certtest.Authority
	t   *testing.T
	dir string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{certtest.NewAuthority(t), t, t.TempDir()}
	certtest.Write(t, a.path("ca"), a.PEM)
	return a
}

// issue makes a certificate for a host name and returns the paths of it and of its key.
func (a *authority) issue(name string, validFor time.Duration) (certificate, key string) {
	certificatePEM, keyPEM := a.Issue(a.t, 1, validFor, name)
	certificate, key = a.path(name), a.path(name+".key")
	certtest.Write(a.t, certificate, certificatePEM)
	certtest.Write(a.t, key, keyPEM)
	return certificate, key
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name+".pem") }

// serveTLS starts a gateway that shows a certificate, and returns its address.
func serveTLS(t *testing.T, certificate, key string, change func(*tls.Config)) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(certificate, key)
	check.Must(t, err)
	config := &tls.Config{Certificates: []tls.Certificate{pair}}
	if change != nil {
		change(config)
	}
	g := gatewaytest.New(grpc.Creds(credentials.NewTLS(config)))
	t.Cleanup(g.Close)
	address, err := g.Listen()
	check.Must(t, err)
	return address
}

// reach queries a gateway's topology, as readiness does.
func reach(t *testing.T, c Config) error {
	t.Helper()
	client, err := Dial(c)
	check.Must(t, err)
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err = client.Topology(ctx)
	return err
}

// firstLine returns the first line that a worker logs about a gateway.
func firstLine(t *testing.T, c Config) string {
	t.Helper()
	client, err := Dial(c)
	check.Must(t, err)
	lines := make(chan string, 100)
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "event"})
	log := zap.New(zapcore.NewCore(encoder, zapcore.AddSync(writer(lines)), zapcore.DebugLevel))
	w := NewWorker(client, Options{}.withDefaults(log))
	w.gateway.Tolerance = 0 // or each of the gateways below would take a second more
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- w.Run(ctx) }()
	defer func() {
		stop()
		if err := <-stopped; err != nil {
			t.Errorf("Run = %v", err)
		}
		_ = client.Close()
	}()
	select {
	case line := <-lines:
		return line
	case <-time.After(time.Minute):
		t.Fatal("nothing is logged")
		return ""
	}
}

// writer passes on what is written.
type writer chan<- string

func (w writer) Write(line []byte) (int, error) {
	w <- string(line)
	return len(line), nil
}

func TestOnlyTheRightGatewayIsTrusted(t *testing.T) {
	t.Parallel()
	ours, others := newAuthority(t), newAuthority(t)
	certificate, key := ours.issue("zeebe.example", time.Hour)
	old, oldKey := ours.issue("old.example", -time.Minute)
	good, expired := serveTLS(t, certificate, key, nil), serveTLS(t, old, oldKey, nil)
	obsolete := serveTLS(t, certificate, key, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS11; c.MinVersion = tls.VersionTLS10 })
	plain := gatewaytest.New()
	t.Cleanup(plain.Close)
	plaintext, err := plain.Listen()
	check.Must(t, err)
	ca := ours.path("ca")
	for name, test := range map[string]struct {
		config Config
		refuse string // what log and readiness say; empty if the gateway is trusted
	}{
		"custom authority and the certificate's name": {Config{Address: good, CACertPath: ca, OverrideAuthority: "zeebe.example"}, ""},
		"address that the certificate does not name":  {Config{Address: good, CACertPath: ca}, "127.0.0.1"},
		"another name":                {Config{Address: good, CACertPath: ca, OverrideAuthority: "other.example"}, "x509: certificate is valid for zeebe.example, not other.example"},
		"another authority":           {Config{Address: good, CACertPath: others.path("ca"), OverrideAuthority: "zeebe.example"}, "x509: certificate signed by unknown authority"},
		"system authorities":          {Config{Address: good, OverrideAuthority: "zeebe.example"}, "failed to verify certificate"}, // in the system's words
		"expired":                     {Config{Address: expired, CACertPath: ca, OverrideAuthority: "old.example"}, "x509: certificate has expired or is not yet valid"},
		"TLS 1.1":                     {Config{Address: obsolete, CACertPath: ca, OverrideAuthority: "zeebe.example"}, "protocol version"},
		"only the gateway speaks TLS": {Config{Address: good, Plaintext: true}, "error reading server preface"},
		"only the worker speaks TLS":  {Config{Address: plaintext, CACertPath: ca}, "tls: first record does not look like a TLS handshake"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := reach(t, test.config)
			if test.refuse == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			check.Fails(t, err, test.refuse)
			if line := firstLine(t, test.config); !strings.Contains(line, `"event":"gateway_lost"`) || !strings.Contains(line, test.refuse) {
				t.Errorf("the log says %s, want %q", line, test.refuse)
			}
		})
	}
}

func TestClientCertificateIsPresentedOnRequest(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	certificate, key := ours.issue("zeebe.example", time.Hour)
	address := serveTLS(t, certificate, key, func(c *tls.Config) {
		c.ClientAuth = tls.RequireAndVerifyClientCert
		c.ClientCAs = x509.NewCertPool()
		c.ClientCAs.AppendCertsFromPEM(ours.PEM)
	})
	config := Config{Address: address, CACertPath: ours.path("ca"), OverrideAuthority: "zeebe.example"}

	if err := reach(t, config); err == nil {
		t.Error("reached without a certificate")
	}
	config.ClientCertPath, config.ClientKeyPath = ours.issue("worker.example", time.Hour)
	if err := reach(t, config); err != nil {
		t.Errorf("not reached with the right certificate: %v", err)
	}
	config.ClientCertPath, config.ClientKeyPath = others.issue("worker.example", time.Hour)
	if err := reach(t, config); err == nil {
		t.Error("reached with a certificate of another authority")
	}
}
