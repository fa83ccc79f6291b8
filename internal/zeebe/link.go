package zeebe

import (
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// lostAfter is how long polls must fail for the gateway to count as lost: a busy one refuses a poll now and then.
const lostAfter = time.Second

// link is the way to the gateway, by how the polls fare. It belongs to the poll loop and logs when it changes, not at
// every poll.
type link struct {
	log   *zap.Logger
	up    atomic.Bool // the one thing that others read
	lost  bool        // and logged as lost
	good  time.Time   // when a poll came through last, or when polling began
	pause backoff
}

func (l *link) succeeded() {
	now := time.Now()
	switch {
	case l.lost:
		l.log.Info("gateway_back", zap.Duration("awayFor", now.Sub(l.good)))
	case !l.up.Load():
		l.log.Info("gateway_connected")
	}
	l.up.Store(true)
	l.lost, l.good = false, now
	l.pause.reset()
}

// failed returns how long to pause before the next poll.
func (l *link) failed(err error) time.Duration {
	if away := time.Since(l.good); away >= lostAfter && !l.lost {
		l.up.Store(false)
		l.lost = true
		s := status.Convert(err)
		fields := []zap.Field{zap.Stringer("code", s.Code()), zap.Duration("awayFor", away)}
		switch s.Code() {
		case codes.Unavailable, codes.Unauthenticated, codes.PermissionDenied:
			// The text is about the connection or the worker, never about a job.
			fields = append(fields, zap.String("reason", s.Message()))
		}
		l.log.Warn("gateway_lost", fields...)
	}
	return l.pause.next()
}
