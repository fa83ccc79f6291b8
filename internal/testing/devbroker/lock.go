package devbroker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockInterval is how often a lock that another process holds is tried again.
const lockInterval = 100 * time.Millisecond

// underLock runs do while this process holds the lock file, so that two processes that need the same download do not
// fetch it twice or trip over each other. The lock goes with its process, however that ends.
func underLock(ctx context.Context, path string, progress Progress, do func() error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the cache directory: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("open the lock of the cache: %w", err)
	}
	defer file.Close()
	for waited := false; ; waited = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return do()
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("lock %s: %w", path, err)
		}
		if !waited {
			progress.say("waiting for another process that is filling the cache ...")
		}
		select {
		case <-time.After(lockInterval):
		case <-ctx.Done():
			return fmt.Errorf("wait for the lock %s: %w", path, ctx.Err())
		}
	}
}
