package config_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

// The passwords were seen to be read in two ways, or could be. The canary stands on both sides of what divides them.
func TestNoPieceOfAHostilePasswordIsShown(t *testing.T) {
	const canary = "c4n4ry"
	for _, form := range []string{ // all settings that hold a URL with a password
		"RETRY_DATABASE_URL=postgres://u:%s@h:1/db", "RETRY_EVENTS_URL=amqp://u:%s@h:1/", "RETRY_EVENTS_URL=kafka://u:%s@h:1,h2:2?topic=t",
		"ZEEBE_AUTHORIZATION_SERVER_URL=https://u:%s@h/t", "ZEEBE_ADDRESS=http://u:%s@h:1", "ZEEBE_ADDRESS=https://%s@h/v2",
		"ZEEBE_ADDRESS=https://h/p?k=%s", "CAMUNDA_BASIC_AUTH_USERNAME=u:%s",
	} {
		for _, divider := range []string{
			"", "@", "@@", ":", "/", "?", "#", "%", "%4", "%00", " ", "\n", "\u202e", "ç", "\\", "[", "]", "\"", "`", ",", "&", "+", ";", "%40", "@[::1]:", "@h:1/d?", "?host=",
		} {
			for _, password := range []string{canary + divider + canary, divider + canary, "1234" + divider + canary, canary + divider} {
				set(t, fmt.Sprintf(form, password))
				cfg, err := config.Load()
				shown := strings.Join(faultsOf(err), "\n")
				if err == nil {
					shown = fmt.Sprintf("%v %+v %s", cfg.Settings(), cfg, cfg.DatabaseURL)
				}
				if strings.Contains(shown, canary) {
					t.Errorf("of %s with the password %q this shows: %s", form, password, shown)
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
