package gateway

import (
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
	"google.golang.org/protobuf/types/known/anypb"

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
type journal struct{ commands, records *os.File }

// line is one line of the journal. It is a move of the clock, a command, or else the time at which something fell due.
type line struct {
	At     int64                    `json:"at"` // milliseconds of Unix time on the engine's clock
	Offset *time.Duration           `json:"offset,omitempty"`
	Call   json.RawMessage          `json:"call,omitempty"` // a request of gRPC with its type
	Task   *engine.CompleteUserTask `json:"task,omitempty"` // it is no request of gRPC
}

// open makes the gateway keep its commands and records in a directory, and first repeats the commands that are there. The
// records are written anew: the same commands at the same times lead to the same records.
func (g *Gateway) open(dir string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	records, err := os.Create(RecordsFile(dir))
	if err != nil {
		return err
	}
	g.journal = &journal{records: records}
	path := filepath.Join(dir, journalFile)
	if err := g.replay(path); err != nil {
		return fmt.Errorf("repeat the commands of %s: %w", path, err)
	}
	g.journal.commands, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return err
}

// noteCommand keeps a command before it happens. The caller holds the mutex.
func (g *Gateway) noteCommand(at time.Time, request any) {
	if g.journal == nil {
		return
	}
	l := line{At: at.UnixMilli()}
	switch r := request.(type) {
	case *engine.CompleteUserTask:
		l.Task = r
	case proto.Message:
		call, err := anypb.New(r)
		must(err)
		l.Call, err = protojson.Marshal(call)
		must(err)
	}
	g.note(l)
}

// note keeps a line before it happens. The caller holds the mutex.
func (g *Gateway) note(l line) {
	if g.journal != nil {
		write(g.journal.commands, l)
	}
}

// write writes a line of JSON.
func write(file *os.File, v any) {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	must(e.Encode(v))
	_, err := file.Write(line.Bytes())
	must(err)
}

// must panics: nothing may happen that a restart forgets.
func must(err error) {
	if err != nil {
		panic(fmt.Errorf("keep a command, or its records: %w", err))
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
		switch { // a command fails where it failed before
		case l.Offset != nil:
			g.offset = *l.Offset
		case l.Task != nil:
			_, _ = g.engine.Do(at, l.Task)
		case l.Call != nil:
			var call anypb.Any
			if err := protojson.Unmarshal(l.Call, &call); err != nil {
				return err
			}
			request, err := call.UnmarshalNew()
			if err != nil {
				return err
			}
			_, _ = g.engine.Do(at, request)
		default:
			g.engine.Tick(at)
		}
	}
	return os.Truncate(path, int64(len(whole)))
}

// record takes over a record of the engine. The mutex is held.
func (g *Gateway) record(r engine.Record) {
	if g.journal != nil {
		write(g.journal.records, r)
	}
	if g.options.Record != nil {
		g.options.Record(r)
	}
}

func (j *journal) close() error {
	return errors.Join(j.commands.Close(), j.records.Close())
}
