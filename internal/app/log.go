package app

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zapgrpc"
	"google.golang.org/grpc/grpclog"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/text"
)

// NewLogger makes the worker's log: in JSON one object per line, with the names of RN-BIL-005 section 13.4 ("event" for
// what happened, "timestamp" in UTC). Nothing is sampled away: a decision that left no line would be missed.
func NewLogger(cfg config.Config, w io.Writer) (*zap.Logger, error) {
	level, err := zapcore.ParseLevel(cfg.LogLevel)
	if err != nil {
		return nil, fmt.Errorf("RETRY_LOG_LEVEL: %w", err)
	}
	names := zapcore.EncoderConfig{
		TimeKey:        "timestamp",
		LevelKey:       "level",
		NameKey:        "logger",
		MessageKey:     "event",
		EncodeTime:     encodeTime,
		EncodeLevel:    zapcore.LowercaseLevelEncoder,
		EncodeDuration: zapcore.StringDurationEncoder,
	}
	encoder := zapcore.NewJSONEncoder(names)
	if cfg.LogFormat == "console" {
		encoder = zapcore.NewConsoleEncoder(names)
	}
	core := zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(lineWriter{w})), level)
	return zap.New(core), nil
}

// lineWriter writes each line of the log as one line without control characters: zap's JSON lets through those outside ASCII,
// its console format also those of a message.
type lineWriter struct{ io.Writer }

// Write writes one line of the log, which ends with a line break.
func (w lineWriter) Write(line []byte) (int, error) {
	s := text.HarmlessJSON(line)
	if last := len(s) - 1; bytes.IndexByte(s, '\n') < last {
		s = append(bytes.ReplaceAll(s[:last], []byte("\n"), []byte(`\n`)), '\n')
	}
	if _, err := w.Writer.Write(s); err != nil {
		return 0, err
	}
	return len(line), nil
}

// encodeTime writes RFC 3339 in UTC with milliseconds, so that lines of several workers sort.
func encodeTime(t time.Time, encoder zapcore.PrimitiveArrayEncoder) {
	encoder.AppendString(t.UTC().Format("2006-01-02T15:04:05.000Z"))
}

// CaptureLibraryLogs sends what libraries write to the standard log, and the errors of gRPC, to the worker's log. It is
// for the whole process and must be called before anything uses gRPC. restore undoes it for the standard log.
func CaptureLibraryLogs(log *zap.Logger) (restore func(), err error) {
	// What gRPC calls information and warnings is one line for each connection that comes or goes; the job loop logs
	// once when the gateway is lost and once when it is back.
	grpclog.SetLoggerV2(zapgrpc.NewLogger(log.Named("grpc").WithOptions(zap.IncreaseLevel(zap.ErrorLevel))))
	restore, err = zap.RedirectStdLogAt(log.Named("std"), zap.WarnLevel)
	if err != nil {
		return nil, fmt.Errorf("capture the standard log: %w", err)
	}
	return restore, nil
}
