//go:build servers

package powercut

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// event is something that a process did to the files of its store, or said.
type event struct {
	call   string // as strace names it
	name   string // of the file, "" for the directory
	data   []byte // of a write
	offset int64  // of a write; the new size of a truncation
	stored int    // of what it printed: how many records are stored
}

// sector is what a disk writes as a whole.
const sector = 512

// inode is a file's content: what is on the disk, and what was done to it since the last sync.
type inode struct {
	durable []byte
	pending []event
}

// disk is what the system was asked to do to a directory, and how much of that it has promised to keep. It keeps
// what was synced and nothing else: a file's entry in the directory only if the directory was.
type disk struct {
	names   map[string]*inode // as processes see them
	durable map[string]*inode
	renamed []entry // since the directory was synced
}

// entry is a name that was given to a file or, where that is nil, taken away.
type entry struct {
	name string
	file *inode
}

func newDisk() *disk { return &disk{names: map[string]*inode{}, durable: map[string]*inode{}} }

// do does what an event says.
func (d *disk) do(e event) error {
	file := d.names[e.name]
	switch e.call {
	case "open", "openat":
		if file == nil {
			d.name(e.name, &inode{})
		}
	case "unlink", "unlinkat":
		if file != nil {
			d.name(e.name, nil)
		}
	case "pwrite64", "ftruncate":
		if file == nil {
			return fmt.Errorf("%s of %s, which is not there", e.call, e.name)
		}
		file.pending = append(file.pending, e)
	case "fsync", "fdatasync":
		if e.name == "" {
			for _, r := range d.renamed {
				r.in(d.durable)
			}
			d.renamed = nil
		} else if file != nil {
			for _, p := range file.pending {
				file.durable = p.on(file.durable)
			}
			file.pending = nil
		}
	}
	return nil
}

func (d *disk) name(name string, file *inode) {
	r := entry{name, file}
	d.renamed = append(d.renamed, r)
	r.in(d.names)
}

func (r entry) in(names map[string]*inode) {
	if names[r.name] = r.file; r.file == nil {
		delete(names, r.name)
	}
}

// on is a write or a truncation done to a file's bytes.
func (e event) on(to []byte) []byte {
	end := e.offset + int64(len(e.data))
	if grow := end - int64(len(to)); grow > 0 {
		to = append(to, make([]byte, grow)...)
	}
	if e.call == "ftruncate" {
		return to[:e.offset]
	}
	copy(to[e.offset:], e.data)
	return to
}

// cut is how much of what was not synced is on the disk when the power is back.
type cut int

const (
	nothing    cut = iota
	everything     // the process is gone, the disk is not
	some           // any sectors of any write
	cuts
)

// after puts the files there that a disk may hold when the power goes now.
func (d *disk) after(c cut, random *rand.Rand, dir string) error {
	names := maps.Clone(d.durable)
	lost := map[string]bool{} // one entry's changes keep their order
	for _, r := range d.renamed {
		if lost[r.name] = lost[r.name] || c == nothing || c != everything && random.IntN(2) == 0; !lost[r.name] {
			r.in(names)
		}
	}
	old, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range old {
		err = errors.Join(err, os.Remove(path))
	}
	for name, file := range names {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), file.after(c, random), 0o600))
	}
	return err
}

func (f *inode) after(c cut, random *rand.Rand) []byte {
	content := slices.Clone(f.durable)
	for _, e := range f.pending {
		parts := []event{e}
		if c == some && e.call == "pwrite64" {
			parts = e.sectors()
		}
		for _, part := range parts {
			if c == everything || c == some && random.IntN(2) == 0 {
				content = part.on(content)
			}
		}
	}
	return content
}

// sectors are a write's parts that a disk writes each as a whole.
func (e event) sectors() (parts []event) {
	for from := int64(0); from < int64(len(e.data)); {
		to := min(int64(len(e.data)), from+sector-(e.offset+from)%sector)
		parts = append(parts, event{call: e.call, name: e.name, offset: e.offset + from, data: e.data[from:to]})
		from = to
	}
	return parts
}

var (
	unfinished = regexp.MustCompile(`^(\d+) +(.*) <unfinished \.\.\.>$`)
	resumed    = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)
	done       = regexp.MustCompile(`^\d+ +(\w+)\((.*)\) += (-?\d+)`)
)

// readTrace reads what strace has written about a process whose store is the file audit.db of a directory.
func readTrace(t *testing.T, path, dir string) (events []event) {
	t.Helper()
	file, err := os.Open(path)
	check.Must(t, err)
	defer file.Close()
	begun := map[string]string{} // by thread
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return events
		}
		check.Must(t, err)
		line = strings.TrimSuffix(line, "\n")
		if m := unfinished.FindStringSubmatch(line); m != nil {
			begun[m[1]] = m[0][:len(m[0])-len(" <unfinished ...>")]
			continue
		}
		if m := resumed.FindStringSubmatch(line); m != nil {
			line = begun[m[1]] + m[2]
		}
		if m := done.FindStringSubmatch(line); m != nil && m[3] != "-1" {
			e, of, err := parse(m[1], m[2], dir)
			if err != nil {
				t.Fatalf("%.200s: %v", line, err)
			}
			if of {
				events = append(events, e)
			}
		}
	}
}

// argument is a descriptor with its path, a text in hexadecimal, or another word.
var argument = regexp.MustCompile(`\w+<[^>]*>|"[^"]*"|[^, ]+`)

// parse reads a system call. of reports whether it is about the store, or prints how much is stored.
func parse(call, arguments, dir string) (e event, of bool, err error) {
	args := argument.FindAllString(arguments, -1)
	path := text(args[0])
	switch call {
	case "open", "openat":
		if !strings.Contains(arguments, "O_CREAT") {
			return e, false, nil
		}
		if call == "openat" {
			path = text(args[1])
		}
	case "unlink":
	case "unlinkat":
		path = text(args[1])
	default:
		path = text(strings.TrimSuffix(path[strings.Index(path, "<")+1:], ">"))
	}
	if call == "write" && strings.HasPrefix(args[0], "1<") {
		e.stored, err = strconv.Atoi(strings.TrimSpace(text(args[1])))
		return e, true, err
	}
	if path != dir && filepath.Dir(path) != dir || strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, ".lock") {
		return e, false, nil
	}
	e = event{call: call}
	if path != dir {
		e.name = filepath.Base(path)
	}
	switch call {
	case "pwrite64":
		e.data = []byte(text(args[1]))
		if e.offset, err = strconv.ParseInt(args[3], 10, 64); err == nil && args[2] != strconv.Itoa(len(e.data)) {
			err = fs.ErrInvalid
		}
	case "ftruncate":
		e.offset, err = strconv.ParseInt(args[1], 10, 64)
	case "open", "openat", "unlink", "unlinkat", "fsync", "fdatasync":
	default:
		err = errors.New("no such call is expected")
	}
	return e, true, err
}

// text is what a text in strace's hexadecimal form says.
func text(quoted string) string {
	raw, err := hex.DecodeString(strings.ReplaceAll(strings.Trim(quoted, `"`), `\x`, ""))
	if err != nil {
		return quoted // it was not one
	}
	return string(raw)
}
