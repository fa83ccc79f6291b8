package zeebe

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/testing/certtest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
	"hospital.example/analyze-retry/internal/transport"
)

// firstLine returns the first line that a worker logs about a gateway.
func firstLine(t *testing.T, client transport.Client) string {
	t.Helper()
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

func TestTheReasonOfAnUntrustedGatewayIsLogged(t *testing.T) {
	authority := certtest.NewAuthority(t)
	certificate, key := authority.Issue(t, 1, time.Hour, "zeebe.example")
	pair, err := tls.X509KeyPair(certificate, key)
	check.Must(t, err)
	for _, p := range protocols {
		t.Run(p.Secure, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			check.Must(t, err)
			g := enginetest.New()
			defer g.Close()
			p.Serve(g, tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}))
			client, err := p.Dial(transport.Config{Scheme: p.Secure, Address: listener.Addr().String()})
			check.Must(t, err)
			line := firstLine(t, client)
			if !strings.Contains(line, `"event":"gateway_lost"`) || !strings.Contains(line, "failed to verify certificate") {
				t.Errorf("the log says %s", line)
			}
		})
	}
}
