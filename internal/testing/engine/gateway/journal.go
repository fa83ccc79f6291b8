package gateway

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"hospital.example/analyze-retry/internal/testing/engine"
)

// The files in a gateway's directory: the commands, from which everything can be made again, and the records.
const (
	journalFile = "journal.jsonl"
	recordsFile = "records.jsonl"
)

// RecordsFile returns the file in a gateway's directory with the engine's records, one a line.
func RecordsFile(dir string) string { return filepath.Join(dir, recordsFile) }

// journal keeps the commands before they are done, and the records they led to.
type journal struct {
	commands *os.File
	records  *bufio.Writer
	file     *os.File // of records
}

// entry is one line of the journal. It is a move of the clock, a command, or else the time at which something fell due.
type entry struct {
	Offset  *time.Duration
	Request any
}

// line is how an entry is kept.
type line struct {
	At      int64           `json:"at"` // milliseconds of Unix time on the engine's clock
	Offset  *time.Duration  `json:"offset,omitempty"`
	Command string          `json:"command,omitempty"` // the request's type
	Request json.RawMessage `json:"request,omitempty"`
}

const userTaskCommand = "CompleteUserTask" // it is no message of gRPC

// open makes the gateway keep its commands and records in a directory, and first repeats the commands that are there. The
// records are written anew: the same commands at the same times lead to the same records.
func (g *Gateway) open(dir string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	records, err := os.Create(RecordsFile(dir))
	if err != nil {
		return err
	}
	g.journal = &journal{records: bufio.NewWriterSize(records, 1<<20), file: records}
	path := filepath.Join(dir, journalFile)
	if err := g.replay(path); err != nil {
		return fmt.Errorf("repeat the commands of %s: %w", path, err)
	}
	g.flush()
	g.journal.commands, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return err
}

// note keeps an entry before it happens. The caller holds the mutex.
func (g *Gateway) note(at time.Time, e entry) {
	if g.journal == nil || g.journal.commands == nil {
		return
	}
	l := line{At: at.UnixMilli(), Offset: e.Offset}
	var err error
	switch r := e.Request.(type) {
	case proto.Message:
		l.Command = string(r.ProtoReflect().Descriptor().FullName())
		l.Request, err = protojson.Marshal(r)
	case *engine.CompleteUserTask:
		l.Command = userTaskCommand
		l.Request, err = json.Marshal(r)
	}
	text, failed := json.Marshal(l)
	if err = errors.Join(err, failed); err == nil {
		_, err = g.journal.commands.Write(append(text, '\n'))
	}
	if err != nil {
		panic(fmt.Errorf("keep a command: %w", err)) // nothing may happen that a restart forgets
	}
}

// replay repeats the commands of a file. An incomplete last line is a command that was never
// answered.
func (g *Gateway) replay(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for text := range bytes.Lines(whole) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		at := time.UnixMilli(l.At)
		switch {
		case l.Offset != nil:
			g.offset = *l.Offset
		case l.Command == "":
			g.engine.Tick(at)
		default:
			request, err := l.request()
			if err != nil {
				return fmt.Errorf("%s: %w", l.Command, err)
			}
			_, _ = g.engine.Do(at, request) // it failed before, or did not
		}
	}
	return os.Truncate(path, int64(len(whole)))
}

// request returns the command that a line holds.
func (l line) request() (any, error) {
	if l.Command == userTaskCommand {
		r := &engine.CompleteUserTask{}
		return r, json.Unmarshal(l.Request, r)
	}
	kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(l.Command))
	if err != nil {
		return nil, err
	}
	r := kind.New().Interface()
	return r, protojson.Unmarshal(l.Request, r)
}

// record writes a record.
func (j *journal) record(r engine.Record) {
	e := json.NewEncoder(j.records)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		panic(fmt.Errorf("write a record: %w", err))
	}
}

// flush makes the records of the last command readable. The caller holds the mutex.
func (g *Gateway) flush() {
	if g.journal == nil {
		return
	}
	if err := g.journal.records.Flush(); err != nil {
		panic(fmt.Errorf("write records: %w", err))
	}
}

func (j *journal) close() error {
	return errors.Join(j.records.Flush(), j.commands.Close(), j.file.Close())
}
