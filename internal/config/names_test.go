package config_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestAMisspeltNameOfTheConnectionGetsAWarning(t *testing.T) {
	t.Parallel()
	for name, meant := range map[string]string{
		"ZEBEE_ADDRESS": "ZEEBE_ADDRESS", "CAMUNDA_REST_ADDRESSS": "CAMUNDA_REST_ADDRESS", "CAMUNDA_AUTH_STRATEGYY": "CAMUNDA_AUTH_STRATEGY",
		"CAMUNDA_CLIENT_SECRETS": "CAMUNDA_CLIENT_SECRET", "camunda_client_secret_fille": "CAMUNDA_CLIENT_SECRET_FILE",
	} {
		cfg := load(t, name+"=c4n4ry")
		check.Same(t, []string{name + " is not read; did you mean " + meant + "?"}, cfg.Warnings(), "warnings")
	}
	other := load(t, "ZEEBE_BROKER_NETWORK_HOST=x", "ZEEBE_PORT=tcp://10.0.0.1:26500", "CAMUNDA_OPERATE_BASE_URL=x")
	check.Same(t, 0, len(other.Warnings()), "warnings of names that mean something else")
}
