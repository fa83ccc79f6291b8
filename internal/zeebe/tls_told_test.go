package zeebe

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

// firstLine is the first line that a worker logs about a gateway.
func firstLine(t *testing.T, c Config) string {
	t.Helper()
	client, err := Dial(c)
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 100)
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "event"})
	log := zap.New(zapcore.NewCore(encoder, zapcore.AddSync(writer(lines)), zapcore.DebugLevel))
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() {
		stopped <- NewWorker(client, Options{JobType: testType, FetchVariables: []string{"a"}, Handler: each(complete), Logger: log}).Run(ctx)
	}()
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

func TestWhatIsWrongWithTheConnectionIsLoggedAndTold(t *testing.T) {
	t.Parallel()
	ours, others := newAuthority(t), newAuthority(t)
	certificate, key := ours.issue("zeebe.example", time.Hour)
	old, oldKey := ours.issue("old.example", -time.Minute)
	good, expired := serveTLS(t, certificate, key, nil), serveTLS(t, old, oldKey, nil)
	plain := gatewaytest.New()
	t.Cleanup(plain.Close)
	plaintext, err := plain.Listen()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		config Config
		want   string
	}{
		"the certificate has expired": {
			Config{Address: expired, CACertPath: ours.path("ca"), OverrideAuthority: "old.example"},
			"x509: certificate has expired or is not yet valid",
		},
		"it is for another name": {
			Config{Address: good, CACertPath: ours.path("ca"), OverrideAuthority: "other.example"},
			"x509: certificate is valid for zeebe.example, not other.example",
		},
		"it is of another authority": {
			Config{Address: good, CACertPath: others.path("ca"), OverrideAuthority: "zeebe.example"},
			"x509: certificate signed by unknown authority",
		},
		"the gateway speaks plaintext": {Config{Address: plaintext, CACertPath: ours.path("ca")}, "tls: first record does not look like a TLS handshake"},
		"only the gateway speaks TLS":  {Config{Address: good, Plaintext: true}, "error reading server preface"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if line := firstLine(t, test.config); !strings.Contains(line, `"event":"gateway_lost"`) || !strings.Contains(line, test.want) {
				t.Errorf("the log says %s, want %q", line, test.want)
			}
			if err := reach(t, test.config); err == nil || !strings.Contains(err.Error(), test.want) { // what /readyz asks
				t.Errorf("readiness says %v, want %q", err, test.want)
			}
		})
	}
}
