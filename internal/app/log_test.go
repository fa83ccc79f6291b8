package app_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
)

func TestALogLineHasTheAgreedNames(t *testing.T) {
	var out bytes.Buffer
	log, err := app.NewLogger(config.Config{LogLevel: "info", LogFormat: "json"}, &out)
	if err != nil {
		t.Fatal(err)
	}
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
	want := map[string]string{"event": "retry_scheduled", "level": "info", "claimId": "CLM-001-1", "wait": "1m30s"}
	if len(line) != len(want) {
		t.Errorf("the line is %v", line)
	}
	for name, value := range want {
		if line[name] != value {
			t.Errorf("%s = %q, want %q", name, line[name], value)
		}
	}
}

func TestNothingIsSampledAway(t *testing.T) {
	var out bytes.Buffer
	log, err := app.NewLogger(config.Config{LogLevel: "warn", LogFormat: "console"}, &out)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		log.Info("not_asked_for")
		log.Warn("the_same_again")
	}
	if n := strings.Count(out.String(), "\n"); n != 1000 || strings.Contains(out.String(), "not_asked_for") {
		t.Errorf("%d lines, want 1000", n)
	}
	if strings.HasPrefix(out.String(), "{") {
		t.Error("console is JSON")
	}
}
