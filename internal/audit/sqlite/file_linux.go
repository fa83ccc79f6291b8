package sqlite

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockByte is far behind the bytes that SQLite locks, which begin at 1 GiB, and behind any file.
const lockByte = 1 << 62

// lockOpen locks a byte of the open file against every other descriptor of it, by any name. The lock
// ends with the descriptor, and SQLite's own locks neither see it nor end it. held is true where another descriptor has it.
func lockOpen(f *os.File) (held bool, err error) {
	err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: lockByte, Len: 1})
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES):
		return true, nil
	case errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOLCK) || errors.Is(err, errors.ErrUnsupported):
		return false, nil // a file system or kernel without such locks: the lock file is what there is
	}
	return false, err
}

// links is how many names the file has.
func links(info fs.FileInfo) uint64 {
	if stat, is := info.Sys().(*syscall.Stat_t); is {
		return uint64(stat.Nlink) //nolint:unconvert // it is 32 bits on other processors
	}
	return 1
}

// isMountPoint reports whether this very file, an absolute path without links, is mounted from elsewhere.
func isMountPoint(file string) bool {
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return false // unknown without /proc
	}
	defer mounts.Close()
	lines := bufio.NewScanner(mounts)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 4 && unescape.Replace(fields[4]) == file {
			return true
		}
	}
	return false
}

// unescape undoes what the kernel escapes in a path.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`)
