package audittest

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

var openFacts = []fact{
	{"a store of another key is refused", func(t *testing.T, s *subject) {
		s.append(t, Record(0))
		check.Must(t, s.Close())
		other := Secret(t)
		store, err := s.database.Open(t, other)
		if want := audit.WrongKey(s.secret.Public().ID(), other.Public().ID()).Error(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("opened %v with %v", store, err)
		}
		s.open(t)
		s.mustVerify(t, 1)
	}},
	{"a store of another version is refused", func(t *testing.T, s *subject) {
		check.Must(t, s.Close())
		for _, change := range []string{"+ 1", "- 2"} {
			s.database.Tamper(t, "UPDATE schema_version SET version = version "+change)
			if store, err := s.database.Open(t, s.secret); err == nil || !strings.Contains(err.Error(), "has schema version ") {
				t.Errorf("opened %v with %v", store, err)
			}
		}
		s.database.Tamper(t, "UPDATE schema_version SET version = version + 1")
		s.open(t)
	}},
}
