package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestALogLineHasTheAgreedNames(t *testing.T) {
	var out bytes.Buffer
	log := app.NewLogger(config.Config{}, &out)
	before := time.Now().Truncate(time.Millisecond)
	log.Debug("too_fine")
	log.Info("retry_scheduled", zap.String("claimId", "CLM-001-1"), zap.Duration("wait", 90*time.Second))
	var line map[string]string
	if err := json.Unmarshal(out.Bytes(), &line); err != nil { // which also fails for two lines
		t.Fatalf("%v: %s", err, out.String())
	}
	when, err := time.Parse("2006-01-02T15:04:05.000Z", line["timestamp"]) // UTC, with milliseconds
	if err != nil || when.Before(before) || when.After(time.Now()) {
		t.Errorf("timestamp %q: %v", line["timestamp"], err)
	}
	delete(line, "timestamp")
	check.Same(t, map[string]string{"event": "retry_scheduled", "level": "info", "claimId": "CLM-001-1", "wait": "1m30s"}, line, "fields")
}

func TestALogLineCannotCommandTheTerminal(t *testing.T) {
	var out bytes.Buffer
	log := app.NewLogger(config.Config{}, &out)
	log.Named("a\u009b").Warn("said\u0085", zap.String("text\u202e", "a\u009b31m\x1b[2J\nforged_event"), zap.Error(errors.New("\u2066")))
	for _, r := range strings.TrimSuffix(out.String(), "\n") {
		if !unicode.IsPrint(r) {
			t.Errorf("%U stands in %q", r, &out)
		}
	}
}
