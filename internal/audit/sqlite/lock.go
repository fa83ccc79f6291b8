package sqlite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"hospital.example/analyze-retry/internal/audit"
)

// hold is the held lock file. Its first line names the holder. Its second line is the head of the last commit, which the next
// process compares with the store if this one is killed.
type hold struct {
	lock *flock.Flock
	text *os.File
	// file is the store's path without links; lastHead is the head that the process before has left behind, zero where there is none.
	file     string
	lastHead audit.Head
	noteAt   int64 // where the second line begins
}

// headLine is how long the second line is, blanks included, so that each head is written over the one before.
const headLine = 400

// holdFile takes the store for this process, until release or the process' end, however that comes.
func holdFile(path, worker string) (h *hold, err error) {
	defer func() {
		if _, held := errors.AsType[*audit.HeldError](err); err != nil && !held {
			err = fmt.Errorf("audit store %s: its lock: %w", path, err)
		}
	}()
	file, err := resolve(path)
	if err != nil {
		return nil, err
	}
	h = &hold{file: file, lock: flock.New(file+".lock", flock.SetPermissions(0o600))}
	held, err := h.lock.TryLock()
	if err != nil {
		return nil, err
	}
	before, readErr := os.ReadFile(h.lock.Path())
	holder, note, _ := bytes.Cut(before, []byte("\n"))
	if !held { // the message does without the holder
		return nil, &audit.HeldError{Store: path, Holder: cmp.Or(string(bytes.TrimSpace(holder)), "another process")}
	}
	if json.Unmarshal(note, &h.lastHead) != nil {
		h.lastHead = audit.Head{}
	}
	host, _ := os.Hostname() // likewise
	text := fmt.Appendf(nil, "worker %q, process %d on %s, since %s\n", worker, os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	h.noteAt = int64(len(text))
	h.text, err = os.OpenFile(h.lock.Path(), os.O_RDWR, 0)
	if err = errors.Join(readErr, err); err == nil {
		_, err = h.text.WriteAt(append(text, padNote(note)...), 0)
	}
	if err == nil {
		err = h.text.Truncate(h.noteAt + headLine)
	}
	if err != nil {
		return nil, errors.Join(err, h.release(false))
	}
	return h, nil
}

func padNote(note []byte) []byte {
	line := bytes.Repeat([]byte(" "), headLine)
	copy(line, bytes.TrimSpace(note))
	line[headLine-1] = '\n'
	return line
}

// note writes the head of the last commit down. It is not synced: it is for a process that is killed, and a store that a
// power cut takes back is shown by the state file next to the key. A note that fails stops nothing.
func (h *hold) note(head audit.Head) {
	if line, err := json.Marshal(head); err == nil {
		_, _ = h.text.WriteAt(padNote(line), h.noteAt)
	}
}

// resolve follows links, or one file would have a lock for each of the names by which it is opened. Of a file that is yet
// to be made it is the directory that may be a link.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	file, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// release keeps the file, because removing it would let two processes hold two files of that name. It empties the file if
// the store was closed in its place, with all that was noted.
func (h *hold) release(inOrder bool) error {
	var errs []error
	if h.text != nil {
		if inOrder {
			errs = append(errs, h.text.Truncate(0))
		}
		errs = append(errs, h.text.Close())
	}
	return errors.Join(append(errs, h.lock.Close())...)
}
