package config_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestASecretIsNeverPrinted(t *testing.T) {
	t.Parallel()
	const canary = "c4n4ry"
	holder := struct {
		One    config.Secret
		List   []config.Secret
		ByName map[string]config.Secret
	}{canary, []config.Secret{canary}, map[string]config.Secret{"a": canary}}
	var shown []string
	for verb := range strings.FieldsSeq("%v %+v %#v %s %q %x %X %d %t %10s %T") {
		shown = append(shown, fmt.Sprintf(verb, holder.One), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, &holder))
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
	if got := string(encoded); got != `{"One":"***","List":["***"],"ByName":{"a":"***"}}` {
		t.Errorf("JSON = %s", got)
	}
}

func TestAnAbsentSecretIsShownAsEmpty(t *testing.T) {
	t.Parallel()
	check.Same(t, ` ""`, fmt.Sprintf("%v %q", config.Secret(""), config.Secret("")), "text")
}

func TestAPasswordInAURLIsNeverPrinted(t *testing.T) {
	t.Parallel()
	const canary = "c4n4ry"
	for _, u := range []config.URL{
		"postgres://user:" + canary + "@host/db?sslmode=require",
		"amqp://user:" + canary + "@host/%2f",
		"postgres://host/db?user=u&password=" + canary,
		"postgres://user:" + canary + "%@host/db", // no URL
		"postgres://user:p@" + canary + "@host/db",
		"kafka://user:" + canary + "@a:1,b:2/topic",
		"nats://" + canary + "@mq:4222",
	} {
		var shown []string
		for verb := range strings.FieldsSeq("%v %+v %#v %s %q %x %X %d %t %10s") {
			shown = append(shown, fmt.Sprintf(verb, u))
		}
		encoded, err := json.Marshal(u)
		check.Must(t, err)
		shown = append(shown, string(encoded), u.String())
		for _, s := range shown {
			if strings.Contains(s, canary) || strings.Contains(strings.ToLower(s), fmt.Sprintf("%x", canary)) {
				t.Errorf("the password shows in %s", s)
			}
		}
	}
	if got, want := config.URL("postgres://user:"+canary+"@host/db").String(), "postgres://user:***@host/db"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
