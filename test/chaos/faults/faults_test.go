package faults

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/check"
)

const victimVariable = "FAULTS_TEST_VICTIM"

func TestMain(m *testing.M) {
	if path := os.Getenv(victimVariable); path != "" {
		beVictim(path)
	}
	goleak.VerifyTestMain(m)
}

// beVictim is what the test binary does when a test runs it: for each line that it reads it writes to the file, flushes
// it and says how both went. Each round runs on another goroutine, so that threads come and go.
func beVictim(path string) {
	file, err := os.Create(path)
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		said := make(chan string)
		go func() {
			_, err := file.WriteAt([]byte("x"), 0)
			said <- fmt.Sprintf("write: %v, sync: %v", err, file.Sync())
		}()
		fmt.Fprintln(os.Stdout, <-said)
	}
	os.Exit(0)
}

// victim is a process that writes and flushes when it is asked to.
type victim struct {
	*exec.Cmd
	ask func() string
}

func startVictim(t *testing.T) victim {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimVariable+"="+filepath.Join(t.TempDir(), "file"))
	in, err := cmd.StdinPipe()
	check.Must(t, err)
	out, err := cmd.StdoutPipe()
	check.Must(t, err)
	check.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the process did not go on to its end: %v", err)
		}
	})
	lines := bufio.NewReader(out)
	return victim{cmd, func() string {
		t.Helper()
		if _, err := fmt.Fprintln(in); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		check.Must(t, err)
		return strings.TrimSpace(line)
	}}
}

const bothWell = "write: <nil>, sync: <nil>"

func TestAFaultBeginsAndEndsInARunningProcessAndIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		fault Fault
		says  string
	}{
		"sync fails": {SyncFails, "write: <nil>, sync: sync FILE: input/output error"},
		"no space":   {NoSpace, "write: write FILE: no space left on device, sync: <nil>"},
		"read-only":  {ReadOnly, "write: write FILE: read-only file system, sync: <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			v := startVictim(t)
			want := strings.ReplaceAll(c.says, "FILE", v.path())
			for range 2 { // and once more
				if got := v.ask(); got != bothWell {
					t.Fatalf("without a fault: %s", got)
				}
				fault, err := Attach(t.Context(), v.Process.Pid, c.fault)
				check.Must(t, err)
				for range 5 {
					if got := v.ask(); got != want {
						t.Errorf("with the fault: %s", got)
					}
				}
				if failed, err := fault.Detach(); failed != 5 || err != nil {
					t.Errorf("%d calls failed, %v, want 5", failed, err)
				}
			}
			if got := v.ask(); got != bothWell {
				t.Errorf("after the fault: %s", got)
			}
		})
	}
}

// path is the file that the victim writes.
func (v victim) path() string {
	return strings.TrimPrefix(v.Env[len(v.Env)-1], victimVariable+"=")
}
