package app

import (
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zapgrpc"
	"google.golang.org/grpc/grpclog"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/text"
)

// NewLogger makes the worker's log: JSON, one object per line, with the names of RN-BIL-005 section 13.4
// ("event" for what happened, "timestamp" in UTC). Nothing is sampled away: a decision that left no line
// would be missed.
func NewLogger(cfg config.Config, w io.Writer) *zap.Logger {
	names := zapcore.EncoderConfig{
		TimeKey:        "timestamp",
		LevelKey:       "level",
		NameKey:        "logger",
		MessageKey:     "event",
		EncodeTime:     encodeTime,
		EncodeLevel:    zapcore.LowercaseLevelEncoder,
		EncodeDuration: zapcore.StringDurationEncoder,
	}
	out := zapcore.Lock(zapcore.AddSync(lineWriter{w}))
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(names), out, cfg.LogLevel))
}

// lineWriter writes each line of the log without control characters: zap lets through those outside ASCII.
type lineWriter struct{ io.Writer }

// Write writes one line of the log, which ends with a line break.
func (w lineWriter) Write(line []byte) (int, error) {
	_, err := io.WriteString(w.Writer, text.Harmless(string(line)))
	return len(line), err
}

// encodeTime writes RFC 3339 in UTC with milliseconds, so that lines of several workers sort.
func encodeTime(t time.Time, encoder zapcore.PrimitiveArrayEncoder) {
	encoder.AppendString(t.UTC().Format("2006-01-02T15:04:05.000Z"))
}

// CaptureLibraryLogs sends what libraries write to the standard log, and the errors of gRPC, to the worker's
// log. It is for the whole process and must be called before anything uses gRPC. restore undoes it for the
// standard log.
func CaptureLibraryLogs(log *zap.Logger) (restore func()) {
	// What gRPC calls information and warnings is one line for each connection that comes or goes; the job
	// loop logs once when the gateway is lost and once when it is back.
	grpclog.SetLoggerV2(zapgrpc.NewLogger(log.Named("grpc").WithOptions(zap.IncreaseLevel(zap.ErrorLevel))))
	restore, _ = zap.RedirectStdLogAt(log.Named("std"), zap.WarnLevel) // it fails for unknown levels only
	return restore
}
