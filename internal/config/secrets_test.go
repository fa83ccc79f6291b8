package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/certtest"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestEverySecretCanComeFromAFile(t *testing.T) {
	t.Parallel()
	var withFile []string
	for _, d := range config.Docs() {
		if d.File != "" {
			withFile = append(withFile, d.File)
		}
	}
	want := []string{"RETRY_HTTP_TOKEN_FILE", "RETRY_DATABASE_URL_FILE", "RETRY_EVENTS_URL_FILE", "CAMUNDA_BASIC_AUTH_PASSWORD_FILE", "ZEEBE_CLIENT_SECRET_FILE"}
	check.Same(t, want, withFile, "settings with a file")
	cfg := load(t, "RETRY_HTTP_TOKEN_FILE="+file(t, "0123456789abcdef\n"), "RETRY_DATABASE_URL_FILE="+file(t, "postgres://app:s3cret@db/retry\r\n"),
		"RETRY_AUDIT_KEY_FILE=k", "RETRY_EVENTS_URL_FILE="+file(t, "amqp://app:s3cret@mq/"), "ZEEBE_CLIENT_SECRET_FILE="+file(t, "s3cret\n"),
		"ZEEBE_CLIENT_ID=worker", "ZEEBE_TOKEN_AUDIENCE=zeebe-api", "ZEEBE_AUTHORIZATION_SERVER_URL=https://login.example/token")
	for _, test := range []struct{ got, want string }{
		{string(cfg.HTTPToken), "0123456789abcdef"},
		{string(cfg.DatabaseURL), "postgres://app:s3cret@db/retry"},
		{string(cfg.EventsURL), "amqp://app:s3cret@mq/"},
		{string(cfg.ZeebeClientSecret), "s3cret"},
	} {
		check.Same(t, test.want, test.got, "value")
	}
	shown := map[string]string{}
	for _, s := range cfg.Settings() {
		if s.Source == config.FromFile {
			shown[s.Name] = s.Value
		}
	}
	wantShown := map[string]string{
		"RETRY_HTTP_TOKEN": "***", "RETRY_DATABASE_URL": "postgres://app:***@db/retry", "RETRY_EVENTS_URL": "amqp://app:***@mq/", "ZEEBE_CLIENT_SECRET": "***",
	}
	check.Same(t, wantShown, shown, "settings from files")
}

func TestAFileWithASecretThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, path, want string }{
		{"is not there", filepath.Join(t.TempDir(), "missing"), "no such file or directory"},
		{"is empty", file(t, ""), "it is empty"},
		{"is larger than may be", file(t, strings.Repeat("x", 64<<10+1)), "it is larger than 64 KiB"},
		{"is a pipe", pipe(t), "it is a pipe, not a regular file"},
		{"has two lines", file(t, "0123456789abcdef\nand more\n"), "it holds more than one line, or is no text"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			// The token is what lets the address through: that fault must not be told too.
			got := faults(t, "RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TOKEN_FILE="+test.path)
			var want []string
			if test.want != "" {
				want = []string{"RETRY_HTTP_TOKEN_FILE names a file that cannot be used: " + test.want}
			}
			check.Same(t, want, got, "faults")
		})
	}
}

func TestASecretThatIsSetTwiceIsRefusedWithBothNames(t *testing.T) {
	t.Parallel()
	got := faults(t, "RETRY_DATABASE_URL=sqlite://a.db", "RETRY_DATABASE_URL_FILE="+file(t, "sqlite://a.db"))
	check.Same(t, []string{"RETRY_DATABASE_URL and RETRY_DATABASE_URL_FILE are both set; remove one of the two"}, got, "faults")
}

func TestNoFaultRepeatsASecret(t *testing.T) {
	t.Parallel()
	const canary = "c4n4ry"
	got := faults(t, "ZEEBE_CLIENT_SECRET=\t"+canary, "RETRY_ZEEBE_CLIENT_SECRET="+canary, "ZEEBE_CLIENT_ID=worker",
		"ZEEBE_AUTHORIZATION_SERVER_URL=ftp://worker:"+canary+"@login.example", "RETRY_HTTP_TOKEN="+canary,
		"RETRY_DATABASE_URL_FILE="+file(t, canary), "RETRY_EVENTS_URL_FILE="+canary, "ZEEBE_CLIENT_SECRET_FILE="+canary,
		"CAMUNDA_CLIENT_AUTH_CLIENTSECRET="+canary, "CAMUNDA_BASIC_AUTH_USERNAME=worker:"+canary, "CAMUNDA_BASIC_AUTH_PASSWORD="+canary+" ",
		"CAMUNDA_BASIC_AUTH_PASSWORD_FILE="+canary, "CAMUNDA_REST_ADDRESS=https://cluster.example/?key="+canary)
	if len(got) < 8 || strings.Contains(strings.Join(got, "\n"), canary) {
		t.Errorf("got %d faults:\n%s", len(got), strings.Join(got, "\n"))
	}
}

func TestASecretThatOthersCanReadGetsAWarning(t *testing.T) {
	t.Parallel()
	httpCertificate, httpKey := certtest.Files(t)
	certificate, key := certtest.Files(t)
	sslKey, token := file(t, "key"), file(t, "0123456789abcdef")
	variables := []string{
		"RETRY_HTTP_TOKEN_FILE=" + token, "RETRY_HTTP_TLS_CERTIFICATE_PATH=" + httpCertificate, "RETRY_HTTP_TLS_KEY_PATH=" + httpKey,
		"ZEEBE_CLIENT_CERTIFICATE_PATH=" + certificate, "ZEEBE_CLIENT_KEY_PATH=" + key,
		"RETRY_DATABASE_URL=postgres://u@h/db?sslkey=" + sslKey, "RETRY_AUDIT_KEY_FILE=k",
	}
	chmod := func(mode os.FileMode) {
		for _, path := range []string{token, httpCertificate, httpKey, certificate, key, sslKey} {
			check.Must(t, os.Chmod(path, mode))
		}
	}
	chmod(0o440)
	if cfg := load(t, variables...); len(cfg.Warnings()) != 0 {
		t.Errorf("%s: %q", "warnings with mode 0440", cfg.Warnings())
	}
	chmod(0o644)
	cfg := load(t, variables...)
	const why = ": the file has mode 0644, so that not only its owner and group can read it, or its group can change it; run: chmod g-w,o= "
	want := []string{
		"RETRY_HTTP_TOKEN_FILE" + why + token, "RETRY_HTTP_TLS_KEY_PATH" + why + httpKey,
		"the sslkey of RETRY_DATABASE_URL" + why + sslKey, "ZEEBE_CLIENT_KEY_PATH" + why + key,
	}
	check.Same(t, want, cfg.Warnings(), "warnings")
}

func TestASecretIsNeverPrinted(t *testing.T) {
	t.Parallel()
	const canary = "c4n4ry"
	holder := struct {
		One    config.Secret
		List   []config.Secret
		ByName map[string]config.Secret
		URL    config.URL
	}{canary, []config.Secret{canary}, map[string]config.Secret{"a": canary}, "postgres://user:" + canary + "@host/db"}
	var shown []string
	for verb := range strings.FieldsSeq("%v %+v %#v %s %q %x %X %d %t %10s %T") {
		shown = append(shown, fmt.Sprintf(verb, holder.One), fmt.Sprintf(verb, holder.URL), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, &holder))
	}
	encoded, err := json.Marshal(holder)
	check.Must(t, err)
	text, err := holder.One.MarshalText()
	check.Must(t, err)
	line, err := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()).EncodeEntry(zapcore.Entry{}, []zapcore.Field{
		zap.Any("any", holder), zap.Stringer("stringer", holder.One), zap.Reflect("reflect", holder.One),
	})
	check.Must(t, err)
	shown = append(shown, string(encoded), string(text), line.String(), holder.One.String(),
		fmt.Sprint(holder), fmt.Errorf("because of %v", holder).Error())
	for _, s := range shown {
		if strings.Contains(s, canary) || strings.Contains(strings.ToLower(s), fmt.Sprintf("%x", canary)) {
			t.Errorf("the secret shows in %s", s)
		}
	}
	if got := string(encoded); got != `{"One":"***","List":["***"],"ByName":{"a":"***"},"URL":"postgres://user:***@host/db"}` {
		t.Errorf("JSON = %s", got)
	}
}
