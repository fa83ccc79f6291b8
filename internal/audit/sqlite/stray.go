package sqlite

import (
	"context"
	"errors"
	"fmt"

	driver "modernc.org/sqlite"

	"hospital.example/analyze-retry/internal/audit"
)

// InPlace reports, as an error, that the file that the store has open is not the one at its path any more. It takes a few
// microseconds and waits for no write.
func (s *store) InPlace() error { return s.failed(s.place.check()) }

// stayInPlace is InPlace; the caller must have the turn. Where the file is not in its place, what the log holds is brought into the
// file that is open, so that nothing of it depends on the log at the path; where only the log is at fault, the writer
// is then given up, and reopen makes the log anew.
func (s *store) stayInPlace(ctx context.Context) error {
	err := s.place.check()
	stray, is := errors.AsType[*strayError](err)
	if !is {
		s.rescued = false
		return err
	}
	if s.writer == nil {
		return err
	}
	if !s.rescued && !stray.cut {
		if other := s.writer.rescue(ctx); other != nil {
			return errors.Join(err, other) // the writer is kept: only it can try again
		}
		s.rescued = true
		s.place.emptied()
	}
	if stray.mendable {
		err = errors.Join(err, s.dropWriter(ctx, stray))
	}
	return err
}

// dropWriter closes the writer without a checkpoint of a log that was cut off, and without removing files by names that may be
// another process's by now.
func (s *store) dropWriter(ctx context.Context, stray *strayError) error {
	if stray.cut { // then not as the last connection, which would copy what is left; the readers cannot write
		reader, err := s.read.Conn(ctx)
		if err != nil {
			return err
		}
		defer reader.Close()
	}
	s.writer.keepLog()
	_ = s.writer.close() // what is wrong is known
	s.writer = nil
	return nil
}

// reopen opens the writer again, on the file that it was before, and makes sure that all is there that was acknowledged.
func (s *store) reopen(ctx context.Context) error {
	err := s.place.check()
	if stray, is := errors.AsType[*strayError](err); is && stray.mendable && s.forgetLog() {
		err = s.place.check()
	}
	if err != nil {
		return err
	}
	w, err := openWriter(ctx, s.place, s.secret)
	if err != nil {
		return err
	}
	if err = audit.Compare(ctx, s, []audit.Head{s.acknowledged}); err == nil {
		err = s.place.settle()
	}
	if err != nil {
		if missing, is := errors.AsType[*audit.MissingError](err); is {
			err = fmt.Errorf("what was stored is not in the file any more: %w. Stop this worker and restore a backup (worker audit restore)", missing)
		}
		return errors.Join(err, w.close())
	}
	s.writer = w
	return nil
}

// forgetLog closes all connections, so that the next one makes log and index anew where they were removed. It returns false
// while a reader is left: to mix the old index with a new log would be damage.
func (s *store) forgetLog() bool {
	return s.place.forget(func() bool {
		s.read.SetMaxIdleConns(0) // closes those that are idle
		defer s.read.SetMaxIdleConns(readers)
		return s.read.Stats().OpenConnections == 0
	})
}

// rescue copies what is in the log into the file, both of which the writer has open, and empties the log.
func (w *writer) rescue(ctx context.Context) error {
	var busy, frames, copied int
	if err := w.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied); err != nil {
		return err
	}
	if busy != 0 {
		return errors.New("its log cannot be emptied while another connection reads")
	}
	return nil
}

// keepLog has SQLite remove no log when the writer is closed.
func (w *writer) keepLog() {
	_ = w.conn.Raw(func(c any) error {
		_, err := c.(driver.FileControl).FileControlPersistWAL("main", 1)
		return err
	})
}
