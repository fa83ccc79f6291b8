package devpostgres

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

const parentVariable = "DEVPOSTGRES_TEST_PARENT"

// beParent is what the test binary does when the test below runs it: it starts a server and waits to be killed.
func beParent() {
	s, err := Start(context.Background(), Options{Dir: os.Getenv(parentVariable)})
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, s.PID())
	select {}
}

func TestTheServerDiesWithATestProcessThatIsKilled(t *testing.T) {
	dir, err := os.MkdirTemp("", "postgres-") //nolint:usetesting // the server's user cannot reach a t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentVariable+"="+dir)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, convErr := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || convErr != nil {
		t.Fatalf("the server did not start: %v, %q", err, line)
	}
	processes := append(childrenOf(pid), pid)
	if len(processes) < 2 {
		t.Fatalf("the server has no processes: %v", processes)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := awaitGone(ctx, processes); err != nil {
		t.Error(err)
	}
}
