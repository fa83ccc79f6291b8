package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"hospital.example/analyze-retry/internal/testing/engine"
)

// recordsInterval is how often the records are looked at while waiting for one.
const recordsInterval = 5 * time.Millisecond

// Record is one entry of the cluster's log of commands, events and rejections, as its exporters see it.
type Record struct {
	Key, Position int64
	// SourceRecordPosition is the position of the command that led to an event; -1 for none.
	SourceRecordPosition int64
	// ValueType says what Value is, e.g. JOB, VARIABLE, INCIDENT, PROCESS_INSTANCE.
	ValueType string
	// Intent says what happened to it, e.g. CREATED, COMPLETED, ELEMENT_ACTIVATED.
	Intent string
	// RecordType is COMMAND, EVENT or COMMAND_REJECTION; only an EVENT has really happened.
	RecordType string
	// Timestamp is the cluster's time in milliseconds since 1970.
	Timestamp int64
	Value     `json:"value"`
}

// Value is what is read of a record's value; which fields are set depends on its type.
type Value struct {
	ProcessInstanceKey, ParentProcessInstanceKey int64
	ElementInstanceKey, ScopeKey, JobKey         int64
	BpmnElementType, ElementID, TargetElementID  string
	Name                                         string
	VariableValue                                string `json:"value"`
	Type                                         string
	Retries                                      int32
	ErrorType, ErrorCode, ErrorMessage           string
	Variables                                    json.RawMessage
	JobKeys                                      []int64
	CandidateGroupsList                          []string
	FormKey                                      int64 // of a user task: the form that was deployed for it
	DueDate                                      any   // a number of a timer, a text of a user task
}

// Is reports whether this has happened: CREATED to a JOB, for example.
func (r Record) Is(valueType, intent string) bool {
	return r.RecordType == "EVENT" && r.ValueType == valueType && r.Intent == intent
}

// At is when it happened, on the cluster's clock.
func (r Record) At() time.Time { return time.UnixMilli(r.Timestamp) }

// Due is when a timer is to fire, on the cluster's clock.
func (r Record) Due() time.Time {
	millis, _ := r.DueDate.(float64)
	return time.UnixMilli(int64(millis))
}

// Records returns all records so far, oldest first; of a command of an engine that [Start] started all or none. The caller
// must not change the slice.
func (c *Cluster) Records() (all []Record, err error) {
	if c.server == nil {
		return c.records.upTo()
	}
	c.server.Locked(func(*engine.Engine) { all, err = c.records.upTo() })
	return all, err
}

// AwaitRecord returns the first record, old or new, that match accepts; it waits for it until ctx ends.
func (c *Cluster) AwaitRecord(ctx context.Context, match func(Record) bool) (Record, error) {
	tick := time.NewTicker(recordsInterval)
	defer tick.Stop()
	for seen := 0; ; {
		all, err := c.records.upTo()
		if err != nil {
			return Record{}, err
		}
		for ; seen < len(all); seen++ {
			if match(all[seen]) {
				return all[seen], nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return Record{}, fmt.Errorf("await a record, none of %d is the one: %w", seen, ctx.Err())
		}
	}
}

// recordLog keeps the records that it is given, and those of a broker's log, which it reads as it grows. It is safe for
// concurrent use.
type recordLog struct {
	path string // of the log, "" for none

	mu sync.Mutex
	// offset is where the first line starts that has not been read.
	offset int64
	all    []Record
}

// take takes over a record of the engine, as exporters write it.
func (l *recordLog) take(r engine.Record) {
	line, err := json.Marshal(r)
	if err != nil {
		panic(err) // a fault of the engine
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(line)
}

func (l *recordLog) upTo() ([]Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path == "" {
		return slices.Clip(l.all), nil
	}
	file, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the cluster's records: %w", err)
	}
	defer file.Close()
	added, err := io.ReadAll(io.NewSectionReader(file, l.offset, 1<<62))
	if err != nil {
		return nil, fmt.Errorf("read the cluster's records: %w", err)
	}
	// What follows the last line end is a line that is still being written; it is read again next time.
	whole := added[:bytes.LastIndexByte(added, '\n')+1]
	for line := range bytes.Lines(whole) {
		l.add(line)
	}
	l.offset += int64(len(whole))
	return slices.Clip(l.all), nil
}

// add takes one line over. A broker's log has more before a record, and other lines, which are skipped. A broker that
// restarts exports again what it had not marked as exported, so positions that are known are skipped too. A field that is of
// another type in a value that nobody reads is left out.
func (l *recordLog) add(line []byte) {
	var r Record
	err := json.Unmarshal(line[max(bytes.IndexByte(line, '{'), 0):], &r)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !other {
		return
	}
	if n := len(l.all); r.Position < 1 || n > 0 && r.Position <= l.all[n-1].Position {
		return
	}
	l.all = append(l.all, r)
}
