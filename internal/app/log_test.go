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
	log, err := app.NewLogger(config.Config{Worker: config.Worker{LogLevel: "info", LogFormat: "json"}}, &out)
	check.Must(t, err)
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
	for _, format := range []string{"json", "console"} {
		var out bytes.Buffer
		log, err := app.NewLogger(config.Config{Worker: config.Worker{LogLevel: "info", LogFormat: format}}, &out)
		check.Must(t, err)
		log.Named(odd).Warn("said\t"+odd, zap.String("text", odd), zap.Strings("list", []string{odd}), zap.Any(odd, map[string]string{odd: odd}), zap.Error(errors.New(odd)))
		line, rest, _ := strings.Cut(out.String(), "\n")
		check.Same(t, "", rest, "%s: after the first line of %q", format, out.String())
		for _, r := range line {
			if r != '\t' && !unicode.IsPrint(r) {
				t.Errorf("%s: %U stands in %q", format, r, line)
			}
		}
		var fields map[string]any
		if err := json.Unmarshal([]byte(line[strings.IndexByte(line, '{'):]), &fields); err != nil || fields["text"] != strings.ToValidUTF8(odd, "\ufffd") {
			t.Errorf("%s: %v: the text is %q", format, err, fields["text"])
		}
	}
}
