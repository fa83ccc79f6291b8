package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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

func TestAPipeInPlaceOfAFileHangsNothing(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	check.Must(t, syscall.Mkfifo(pipe, 0o600))
	const what = "it is a pipe, not a regular file"
	tls := []string{"ZEEBE_INSECURE_CONNECTION=false"}
	for _, test := range []struct {
		name, args string
		settings   []string
		want       string // of the complaint; all say what the file is
	}{
		{"token", "config", []string{"RETRY_HTTP_TOKEN_FILE=" + pipe}, "RETRY_HTTP_TOKEN_FILE names"},
		{"store", "history CLM-1-1", []string{"RETRY_DATABASE_URL=", "RETRY_DATABASE_URL_FILE=" + pipe}, "RETRY_DATABASE_URL_FILE names"},
		{"queue", "run", []string{"RETRY_EVENTS_URL_FILE=" + pipe}, "RETRY_EVENTS_URL_FILE names"},
		{"client secret", "deploy", []string{"ZEEBE_CLIENT_SECRET_FILE=" + pipe}, "ZEEBE_CLIENT_SECRET_FILE names"},
		{"policies", "run", []string{"RETRY_POLICIES_FILE=" + pipe}, "RETRY_POLICIES_FILE: policies file: open " + pipe + ": "},
		{"policies to lint", "policies lint " + pipe, nil, "policies file: open " + pipe + ": "},
		{"audit key", "run", []string{"RETRY_AUDIT_KEY_FILE=" + pipe}, "RETRY_AUDIT_KEY_FILE: audit key: open " + pipe + ": "},
		{"certificate", "config", []string{"RETRY_HTTP_TLS_CERTIFICATE_PATH=" + pipe, "RETRY_HTTP_TLS_KEY_PATH=" + pipe}, `RETRY_HTTP_TLS_KEY_PATH is "` + pipe + `"`},
		{"authorities", "config", append(tls, "ZEEBE_CA_CERTIFICATE_PATH="+pipe), `ZEEBE_CA_CERTIFICATE_PATH is "` + pipe + `"`},
		{"client certificate", "run", append(tls, "ZEEBE_CLIENT_CERTIFICATE_PATH="+pipe, "ZEEBE_CLIENT_KEY_PATH="+pipe), `ZEEBE_CLIENT_KEY_PATH is "` + pipe + `"`},
		{"authorities of the store", "config", []string{"RETRY_DATABASE_URL=postgres://u@h/db?sslrootcert=" + pipe}, "RETRY_DATABASE_URL names by sslrootcert"},
		{"key of the store", "config", []string{"RETRY_DATABASE_URL=postgres://u@h/db?sslkey=" + pipe}, "RETRY_DATABASE_URL names by sslkey"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := start(t, strings.Fields(test.args), test.settings...)
			how := p.end() // start gives it a minute
			if complaint := p.stderr.String(); !strings.HasPrefix(how, "exit status ") || !strings.Contains(complaint, test.want) || !strings.Contains(complaint, what) {
				t.Errorf("ended with %q: %s", how, complaint)
			}
		})
	}
}

// leaseBreak is less than what the system waits before it takes a lease away (fs.lease-break-time, 45 s). Then the start
// would not hang any more.
const leaseBreak = 40 * time.Second

// A lease on the store's file blocks every process that opens it, as a file system that is gone does, and signals the holder.
func TestTheFirstSignalEndsAStartThatHangs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retry.db")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	check.Must(t, err)
	defer file.Close()
	opened := make(chan os.Signal, 1)
	signal.Notify(opened, unix.SIGIO)
	defer signal.Stop(opened)
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Fatalf("take a lease on %s: %v", path, err)
	}
	p := start(t, nil, "RETRY_DATABASE_URL=sqlite://"+path, "RETRY_AUDIT_KEY_FILE="+keyFile(t), "ZEEBE_ADDRESS="+unreachable)
	select {
	case <-opened:
	case <-time.After(30 * time.Second):
		t.Fatal("the worker did not open the store")
	}
	signalled := time.Now()
	p.signal(syscall.SIGTERM)
	if how := p.end(); how != "exit status 1" || time.Since(signalled) > leaseBreak || !strings.Contains(p.stderr.String(), "stopped before it was done") {
		t.Errorf("ended with %q after %s: %s", how, time.Since(signalled), p.stderr.String())
	}
}
