package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// keyFile is a file with a key for an audit trail.
func keyFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.key")
	secret, err := audit.NewSecret()
	if err == nil {
		err = secret.Save(path)
	}
	check.Must(t, err)
	return path
}

// A lease on the store's file blocks every process that opens it, as a file system that is gone does, and signals the holder.
func TestTheFirstSignalEndsAStartThatHangs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retry.db")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	check.Must(t, err)
	defer file.Close()
	opened := make(chan os.Signal, 1)
	signal.Notify(opened, syscall.SIGIO)
	defer signal.Stop(opened)
	const setLease = 1024 // F_SETLEASE of fcntl(2)
	if _, _, fault := syscall.Syscall(syscall.SYS_FCNTL, file.Fd(), setLease, syscall.F_WRLCK); fault != 0 {
		t.Fatalf("take a lease on %s: %v", path, fault)
	}
	p := start(t, nil, "RETRY_DATABASE_URL=sqlite://"+path, "RETRY_AUDIT_KEY_FILE="+keyFile(t), "ZEEBE_ADDRESS="+unreachable)
	select {
	case <-opened:
	case <-time.After(30 * time.Second):
		t.Fatal("the worker did not open the store")
	}
	p.signal(syscall.SIGTERM)
	if how := p.end(); how != "exit status 1" || !strings.Contains(p.stderr.String(), "stopped before it was done") {
		t.Errorf("ended with %q: %s", how, p.stderr.String())
	}
}
