package retry_test

import (
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
)

func TestAFaultNamesDurationsAsAPoliciesFileWritesThem(t *testing.T) {
	_, err := plain(t).With(retry.Overrides{Max: 400 * 24 * time.Hour})
	if err == nil || !strings.Contains(err.Error(), "is 9600h but must be at most 8784h") {
		t.Errorf("%v", err)
	}
}
