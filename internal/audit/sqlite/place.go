package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"

	sqlite "modernc.org/sqlite"

	"hospital.example/analyze-retry/internal/audit"
)

// place holds the open database file and the path at which it must stay: a commit counts only if the next process opens the
// same file. The file is never opened anew, because closing any descriptor of it ends SQLite's locks.
type place struct {
	path string // as it was given; what the next process opens
	file string // the same without links; the log and its index lie next to it

	// open is a descriptor of the file: it keeps its inode from being used again, and holds the lock on it. It is opened
	// before SQLite opens the file, and closed after.
	open *os.File

	mu         sync.Mutex
	main       part
	log, index part // unknown until the writer has opened them
}

// part is one of the files: which one it is, and the largest size that it was seen with.
type part struct {
	suffix, name string
	info         os.FileInfo // nil while it is not known
	size         int64
}

// strayError says that a file is not in its place any more.
type strayError struct {
	what string
	// mendable says that the database file is in its place, so that log and index can be made anew. foreign says that
	// a person must move another store's log away first.
	mendable, foreign bool
	// cut says that bytes are missing, so that nothing must be copied out of the log.
	cut bool
}

func (e *strayError) Error() string { return e.what }

// otherName names a holder that has not taken the lock file.
const otherName = "another process that has the file by another name, a hard link or a mount (find -samefile, /proc/locks)"

// newPlace opens the file, which must be there, and locks it. It fails where the file has a second name, or is held by one.
func newPlace(path, file string) (p *place, err error) {
	open, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, open.Close())
		}
	}()
	info, err := open.Stat()
	if err != nil {
		return nil, err
	}
	if n := links(info); n > 1 {
		return nil, fmt.Errorf("the file has %d names (hard links); by another name it would have another log, and one of the two would be lost: "+
			"find them (find / -xdev -samefile %s) and remove all but one", n, file)
	}
	held, err := lockOpen(open)
	if err != nil {
		return nil, fmt.Errorf("lock the file: %w", err)
	}
	if held {
		return nil, &audit.HeldError{Store: path, Holder: otherName}
	}
	return &place{
		path: path, file: file, open: open, main: part{info: info, size: info.Size()},
		log:   part{suffix: "-wal", name: "its write-ahead log"},
		index: part{suffix: "-shm", name: "the index of its write-ahead log"},
	}, nil
}

// check returns a [*strayError] if what is open is not what is at the path.
func (p *place) check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.look()
}

// look is check; the caller must hold p.mu.
func (p *place) look() error {
	info, err := os.Stat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &strayError{what: p.gone()}
	case err != nil:
		return &strayError{what: fmt.Sprintf("its file cannot be looked at (%v)", err)}
	case !os.SameFile(info, p.main.info):
		return &strayError{what: "another file was put in its place, and is not written to: put the right one back, or stop this worker and see docs/runbooks.md#retrystoredown"}
	case info.Size() < p.main.size:
		return &strayError{cut: true, what: fmt.Sprintf("its file was cut off from %d to %d bytes (or made smaller by VACUUM): start this worker anew; "+
			"the start checks what the file has, and is refused if a backup must be restored", p.main.size, info.Size())}
	}
	p.main.size = info.Size()
	if err := p.log.look(p.file); err != nil {
		return err
	}
	return p.index.look(p.file)
}

// gone says what became of the file when nothing is at the path.
func (p *place) gone() string {
	if info, err := p.open.Stat(); err == nil && links(info) == 0 && runtime.GOOS == "linux" {
		return fmt.Sprintf("its file was removed: as long as this process runs, all that it had can be copied from /proc/%d/fd/%d; then stop it and restore (worker audit restore)",
			os.Getpid(), p.open.Fd())
	}
	return "its file was moved away or removed: move it back"
}

func (f *part) look(file string) error {
	if f.info == nil {
		return nil
	}
	info, err := os.Stat(file + f.suffix)
	stray := &strayError{mendable: true}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		stray.what = "was removed while it was in use"
	case err != nil:
		stray.what = fmt.Sprintf("cannot be looked at (%v)", err)
	case !os.SameFile(info, f.info):
		stray.what = "was replaced by another file while it was in use"
		if f.suffix == "-wal" && info.Size() > 0 {
			stray.foreign = true
			stray.what += ": move that one away"
		}
	case info.Size() < f.size:
		stray.cut = true
		stray.what = fmt.Sprintf("was cut off from %d to %d bytes", f.size, info.Size())
	default:
		f.size = info.Size()
		return nil
	}
	stray.what = f.name + " (" + f.suffix + ") " + stray.what
	return stray
}

// settle records the present log and index, which the writer has just opened.
func (p *place) settle() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range []*part{&p.log, &p.index} {
		info, err := os.Stat(p.file + f.suffix)
		if err != nil {
			return err
		}
		f.info, f.size = info, info.Size()
	}
	return p.look()
}

// forget clears the recorded log and index until settle. It reports whether it did: not while they are used, and not where
// another process's log lies in their place.
func (p *place) forget(unused func() bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	stray, is := errors.AsType[*strayError](p.log.look(p.file))
	if is && stray.foreign || !unused() {
		return false
	}
	p.log.info, p.index.info = nil, nil
	return true
}

// emptied resets the recorded size of the log, after a checkpoint has emptied it.
func (p *place) emptied() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log.size = 0
}

// connector opens connections to the file in its place, and to no other. They open the log too: it must not be another
// one's, and must not be made anew while a writer still uses the one that was removed.
type connector struct {
	driver.Connector
	place *place
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	c.place.mu.Lock()
	defer c.place.mu.Unlock()
	if err := c.place.look(); err != nil {
		return nil, err
	}
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err = openLog(ctx, conn); err == nil {
		err = c.place.look() // what was opened was in its place before and after
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// pool makes a pool of such connections.
func (p *place) pool(mode string, pragmas ...string) (*sql.DB, error) {
	c, err := sqlite.NewConnector(source(p.path, mode, pragmas...))
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector{c, p}), nil
}

// openLog runs a query, which makes SQLite open the log.
func openLog(ctx context.Context, conn driver.Conn) error {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, "SELECT 1 FROM sqlite_schema LIMIT 1", nil)
	if err != nil {
		return err
	}
	return eachRow(rows, func(*reader) error { return nil })
}
