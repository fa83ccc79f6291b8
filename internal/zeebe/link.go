package zeebe

import (
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// patience is how long polls may fail before the gateway counts as lost: a busy gateway refuses a poll now and then.
const patience = time.Second

// link is what the polls tell of the way to the gateway. It logs when that changes, not at every poll.
type link struct {
	log  *zap.Logger
	up   atomic.Bool // read by others than the poll loop
	lost bool        // and logged as lost
	good time.Time   // when a poll came through last, or when polling began
}

func (l *link) succeeded() {
	now := time.Now()
	if !l.up.Load() {
		l.up.Store(true)
		if l.lost {
			l.log.Info("gateway is back", zap.Duration("away", now.Sub(l.good)))
		} else {
			l.log.Info("connected to the gateway")
		}
	}
	l.lost, l.good = false, now
}

func (l *link) failed(err error) {
	if away := time.Since(l.good); away >= patience && !l.lost {
		l.lost = true
		l.up.Store(false)
		s := status.Convert(err)
		fields := []zap.Field{zap.Stringer("code", s.Code()), zap.Duration("away", away)}
		switch s.Code() {
		case codes.Unavailable, codes.Unauthenticated, codes.PermissionDenied:
			// These are said of the connection and the worker, never of a job.
			fields = append(fields, zap.String("reason", s.Message()))
		}
		l.log.Warn("gateway lost: no poll comes through; trying again until one does", fields...)
	}
}
