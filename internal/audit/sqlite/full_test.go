package sqlite

import (
	"os/signal"
	"syscall"
	"testing"

	"hospital.example/analyze-retry/internal/testing/audittest"
)

// TestAFullDiskRefusesWritesUntilThereIsRoom is row 16 of the faults. The disk is full by the process' own limit for
// files, at another place of the transaction each time. It fails where the writer is kept after an error: then what it
// holds for the end of the chain is not what the file has.
func TestAFullDiskRefusesWritesUntilThereIsRoom(t *testing.T) {
	limit, free := diskLimit(t)
	s, _, secret := newStore(t)
	n, refused := 0, 0
	for room := uint64(0); room < 300_000; room += 15_000 {
		limit(room)
		if _, err := s.Append(t.Context(), audittest.Records(n, n+50), nil); err != nil {
			refused++
			if room == 0 && s.Probe(t.Context()) == nil {
				t.Error("the probe wrote to a full disk")
			}
		}
		limit(free)
		if err := s.Probe(t.Context()); err != nil {
			t.Fatalf("with room again: %v", err)
		}
		// To append again what was refused is safe, and what was not is not stored twice.
		if _, err := s.Append(t.Context(), audittest.Records(n, n+50), nil); err != nil {
			t.Fatalf("with room again: %v", err)
		}
		n += 50
	}
	audittest.Verify(t, s, secret, int64(n))
	if refused < 3 {
		t.Errorf("only %d appends were refused", refused)
	}
}

// diskLimit returns what limits the size of the process's files, and the limit that there was, which comes back at the end.
func diskLimit(t *testing.T) (limit func(bytes uint64), free uint64) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	limit = func(bytes uint64) {
		t.Helper()
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: before.Max}))
	}
	t.Cleanup(func() {
		limit(before.Cur)
		signal.Reset(syscall.SIGXFSZ)
	})
	return limit, before.Cur
}
