package config_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestEverySecretCanComeFromAFile(t *testing.T) {
	cfg := load(t, "RETRY_HTTP_TOKEN_FILE="+file(t, "0123456789abcdef\n"), "RETRY_DATABASE_URL_FILE="+file(t, "postgres://app:s3cret@db/retry\r\n"),
		"RETRY_EVENTS_URL_FILE="+file(t, "amqp://app:s3cret@mq/"), "CAMUNDA_BASIC_AUTH_PASSWORD_FILE="+file(t, "s3cret\n"),
		"CAMUNDA_BASIC_AUTH_USERNAME=worker", "ZEEBE_ADDRESS=zeebe:1")
	check.Same(t, []string{"0123456789abcdef", "postgres://app:s3cret@db/retry", "amqp://app:s3cret@mq/", "s3cret"},
		[]string{string(cfg.HTTPToken), string(cfg.DatabaseURL), string(cfg.EventsURL), string(cfg.BasicPassword)}, "values")
	shown := map[string]string{}
	for _, s := range cfg.Settings() {
		if s.Source == "file" {
			shown[s.Name] = s.Value
		}
	}
	check.Same(t, map[string]string{
		"RETRY_HTTP_TOKEN": "***", "RETRY_DATABASE_URL": "postgres://app:xxxxx@db/retry", "RETRY_EVENTS_URL": "amqp://app:xxxxx@mq/",
		"CAMUNDA_BASIC_AUTH_PASSWORD": "***",
	}, shown, "settings from files")
	cfg = load(t, "RETRY_DATABASE_URL=sqlite://a.db", "RETRY_DATABASE_URL_FILE="+file(t, "sqlite://b.db"))
	check.Same(t, "a.db", cfg.SQLitePath(), "store by both")
}

func TestAFileWithASecretThatCannotBeUsed(t *testing.T) {
	const unusable = ": its file cannot be used: "
	const unprintable = ": holds a character that cannot be printed, or begins or ends with white space"
	for path, want := range map[string]string{
		filepath.Join(t.TempDir(), "missing"):     unusable + "no such file or directory",
		file(t, ""):                               unusable + "it is empty",
		file(t, "0123456789abcdef\nand more\n"):   unprintable,
		file(t, "0123456789abcdef\x00and more\n"): unprintable,
	} {
		// The token is what lets the address through: that fault must not be told too.
		got := faults(t, "RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TOKEN_FILE="+path)
		check.Same(t, []string{"RETRY_HTTP_TOKEN" + want}, got, "faults")
	}
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
	encoded, err := json.Marshal(holder)
	check.Must(t, err)
	line, err := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()).EncodeEntry(zapcore.Entry{}, []zapcore.Field{
		zap.Any("any", holder), zap.Stringer("stringer", holder.One), zap.Reflect("reflect", holder.One),
	})
	check.Must(t, err)
	shown := []string{string(encoded), line.String()}
	for verb := range strings.FieldsSeq("%v %+v %#v %s %q %x %X %d %t %10s %T") {
		shown = append(shown, fmt.Sprintf(verb, holder), fmt.Sprintf(verb, holder.One), fmt.Sprintf(verb, holder.URL))
	}
	for _, s := range shown {
		if strings.Contains(s, canary) || strings.Contains(strings.ToLower(s), fmt.Sprintf("%x", canary)) {
			t.Errorf("the secret shows in %s", s)
		}
	}
	check.Same(t, `{"One":"***","List":["***"],"ByName":{"a":"***"},"URL":"postgres://user:xxxxx@host/db"}`, string(encoded), "JSON")
}
