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
	log := app.NewLogger(config.Config{Worker: config.Worker{LogLevel: "info"}}, &out)
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
	check.Same(t, len(want), len(line), "fields")
	for name, value := range want {
		if line[name] != value {
			t.Errorf("%s = %q, want %q", name, line[name], value)
		}
	}
}

func TestALogLineCannotCommandTheTerminal(t *testing.T) {
	const odd = "a\u009b31m\u0085\x7f\x1b[2J\u202eb\u2066\U000e0041\x9b é\nforged_event"
	var out bytes.Buffer
	log := app.NewLogger(config.Config{Worker: config.Worker{LogLevel: "info"}}, &out)
	log.Named(odd).Warn("said\t"+odd,
		zap.String("text", odd),
		zap.Strings("list", []string{odd}),
		zap.Any(odd, map[string]string{odd: odd}),
		zap.Error(errors.New(odd)))
	line, rest, _ := strings.Cut(out.String(), "\n")
	check.Same(t, "", rest, "after the first line of %q", out.String())
	for _, r := range line {
		if !unicode.IsPrint(r) {
			t.Errorf("%U stands in %q", r, line)
		}
	}
	var fields map[string]any
	check.Must(t, json.Unmarshal([]byte(line), &fields))
	check.Same(t, any(strings.ToValidUTF8(odd, "\ufffd")), fields["text"], "the text")
}
