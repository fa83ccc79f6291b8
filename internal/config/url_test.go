package config_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

// hostile are passwords that were seen to be read in two ways, or could be. None shares four letters with a URL's other parts.
var hostile = []string{
	"can@ary1", "can@ary1@zwei", "@canary1", "can:ary1", "can:1234", "can/ary1", "1234/canary1", "can?ary1", "1234?canary1", "can#ary1", "can%ary1",
	"canary1%4", "can%00ary1", "can ary1", "can\nary1", "can\x00ary1", "can\u202eary1", "çanary1", "can\\ary1", "[can]ary1", "can\"ary1", "can`ary1",
	"can@ary1:5432/qqqq?", "can@[::1]:ary1", "can,ary1@zwei,drei", "can%40ary1@zwei", "can@ary1?host=zwei", "can\x9bary1",
	// Those that every library reads alike.
	"canary1", "can%40ary1", "can%3a%23%3F%25ary1", "can,ary1", "can&ary1=zwei", "can+ary1", "can!$'()*ary1", "sslmode=disable", "~canary1.-_",
}

// urlForms are all settings that hold a URL with a password, the password as %s.
var urlForms = []struct{ setting, form string }{
	{"RETRY_DATABASE_URL", "postgres://u:%s@h:1/db"},
	{"RETRY_EVENTS_URL", "amqp://u:%s@h:1/"},
	{"RETRY_EVENTS_URL", "kafka://u:%s@h:1,h2:2?topic=t"},
	{"ZEEBE_AUTHORIZATION_SERVER_URL", "https://u:%s@h/t"},
	{"ZEEBE_ADDRESS", "http://u:%s@h:1"},
	{"ZEEBE_ADDRESS", "https://%s@h/v2"},
	{"ZEEBE_ADDRESS", "https://h/p?k=%s"},
	{"CAMUNDA_BASIC_AUTH_USERNAME", "u:%s"},
}

// pieces are all parts of a password, four bytes each, that stand nowhere else in a text about it.
func pieces(password, elsewhere string) (list []string) {
	for _, form := range []string{password, url.QueryEscape(password)} {
		for i := range max(len(form)-3, 0) {
			if piece := form[i : i+4]; !strings.Contains(elsewhere, piece) {
				list = append(list, piece)
			}
		}
	}
	return list
}

// shown is all that a configuration prints: its faults, or its settings and warnings.
func shown(t *testing.T, variable string) string {
	t.Helper()
	set(t, variable)
	cfg, err := config.Load()
	if err != nil {
		return strings.Join(faultsOf(err), "\n")
	}
	return fmt.Sprintf("%v %+v %s", cfg.Settings(), cfg, cfg.DatabaseURL)
}

func TestNoPieceOfAHostilePasswordIsShown(t *testing.T) {
	for _, form := range urlForms {
		// What is printed about it with the harmless x for a password.
		harmless := shown(t, form.setting+"="+fmt.Sprintf(form.form, "x@")) + shown(t, form.setting+"="+fmt.Sprintf(form.form, "x"))
		for _, password := range hostile {
			value := fmt.Sprintf(form.form, password)
			var variables []string
			if strings.HasPrefix(form.setting, "RETRY_") {
				variables = append(variables, form.setting+"_FILE="+file(t, value))
			}
			if !strings.Contains(value, "\x00") {
				variables = append(variables, form.setting+"="+value)
			}
			for _, variable := range variables {
				text := shown(t, variable)
				for _, piece := range pieces(password, harmless) {
					if strings.Contains(text, piece) {
						t.Errorf("%s: %q of the password %q shows in %s", form.form, piece, password, text)
						break
					}
				}
			}
		}
	}
}

func TestOrdinaryConnectionURLsAreTaken(t *testing.T) {
	for value, shown := range map[string]string{
		"postgres://u:p@h1:5432,h2:5432/db?target_session_attrs=read-write": "postgres://u:xxxxx@h1:5432,h2:5432/db",
		"postgres://u:p@/db?host=%2Fvar%2Frun&port=5433":                    "postgres://u:xxxxx@/db",
		"postgres://u@[2001:db8::1]:5432/db":                                "postgres://u@[2001:db8::1]:5432/db",
		"postgres://u%40corp:p%40%2F%3A%3F%23%25%20@db_1.example./d%2Fb":    "postgres://u%40corp:xxxxx@db_1.example./d%2Fb",
		"postgres://u:p@h/db?sslmode=disable&sslpassword=geheim":            "postgres://u:xxxxx@h/db",
	} {
		cfg := load(t, "RETRY_DATABASE_URL="+value, "RETRY_AUDIT_KEY_FILE=k")
		check.Same(t, shown, cfg.DatabaseURL.String(), "how %s is shown", value)
	}
	for _, events := range []string{
		"amqps://u:p%40@[::1]:1/hospital%2Fbilling?exchange=e&queue=q", "kafka+tls://u:p@h1:9093,h2:9093?sasl=plain&ca=/etc/ca.pem", "amqp://u:p@h",
	} {
		load(t, "RETRY_EVENTS_URL="+events)
	}
}
