package redacttest_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/testing/redacttest"
)

func TestTheFinderSeesThroughSpellings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		secret redacttest.Secret
		blob   string
		found  bool
	}{
		{"JSON in a database's page", redacttest.Secret{Kind: redacttest.CPF, Value: "12345678909"}, "\x00\x01{\"a\":\"12345678909\"}\x00\xff", true},
		{"part of a longer number", redacttest.Secret{Kind: redacttest.CPF, Value: "12345678909"}, "9123456789091", false},
		{"a name's last word", redacttest.Secret{Kind: redacttest.Name, Value: "maria da conceicao"}, "[palavra] CONCEI\u00c7\u00c3O", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			finder := redacttest.NewFinder(redacttest.Canary{Secrets: []redacttest.Secret{tt.secret}})
			if found := finder.Find([]byte(tt.blob)); (len(found) > 0) != tt.found {
				t.Errorf("%q in %q: %v", tt.secret.Value, tt.blob, found)
			}
		})
	}
}
