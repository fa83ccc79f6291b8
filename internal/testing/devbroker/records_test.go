package devbroker

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

// line is a record as the exporter writes it, cut down.
func line(position int, intent string) string {
	return `{"partitionId":1,"value":{"type":"analyze-retry","variables":{"a":"ü\n{"}},"key":2251799813685258,"timestamp":1795233296647,` +
		`"valueType":"JOB","position":` + strconv.Itoa(position) + `,"intent":"` + intent + `","recordType":"EVENT",` +
		`"rejectionType":"NULL_VAL","rejectionReason":"","brokerVersion":"8.5.8","sourceRecordPosition":19}` + "\n"
}

// logged is a record log over a file that the test writes.
func logged(t *testing.T) (*Broker, func(text string)) {
	t.Helper()
	b := &Broker{at: State{Dir: t.TempDir(), Records: true}}
	b.setRecords()
	return b, func(text string) {
		t.Helper()
		file, err := os.OpenFile(b.records.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		check.Must(t, err)
		_, err = file.WriteString(text)
		check.Must(t, errors.Join(err, file.Close()))
	}
}

func positions(t *testing.T, b *Broker) string {
	t.Helper()
	all, err := b.Records(t.Context())
	check.Must(t, err)
	var text []string
	for _, r := range all {
		text = append(text, strconv.FormatInt(r.Position, 10)+r.Intent)
	}
	return strings.Join(text, " ")
}

func TestAHalfWrittenLineIsReadWhenItIsWhole(t *testing.T) {
	b, add := logged(t)
	if got := positions(t, b); got != "" {
		t.Errorf("before there is a file: %q", got)
	}
	second := line(2, "B")
	add(line(1, "A") + second[:40])
	if got := positions(t, b); got != "1A" {
		t.Errorf("with half a line: %q", got)
	}
	add(second[40:])
	if got := positions(t, b); got != "1A 2B" {
		t.Errorf("with the other half: %q", got)
	}
}

func TestRepeatedRecordsAreReadOnceAfterARestart(t *testing.T) {
	b, add := logged(t)
	add(line(1, "A") + line(2, "B") + line(3, "C")[:50])
	check.Must(t, endHalfLine(b.records.path))
	check.Must(t, endHalfLine(b.records.path))
	add("Debug exporter opened\n" + line(2, "B") + line(3, "C") + line(4, "D"))
	if got := positions(t, b); got != "1A 2B 3C 4D" {
		t.Errorf("got %q", got)
	}
	if got := strings.Count(read(t, b.records.path), "\n"); got != 7 {
		t.Errorf("%d lines", got)
	}
}

func TestAwaitRecordFindsOldOnesAndWaitsForNewOnes(t *testing.T) {
	b, add := logged(t)
	add(line(1, "A"))
	is := func(intent string) func(Record) bool { return func(r Record) bool { return r.Intent == intent } }
	if r, err := b.AwaitRecord(t.Context(), is("A")); err != nil || r.Position != 1 {
		t.Errorf("an old one: %v (%v)", r, err)
	}
	looked := make(chan struct{}, 1)
	go func() {
		<-looked
		add(line(2, "B"))
	}()
	r, err := b.AwaitRecord(t.Context(), func(r Record) bool {
		if r.Intent == "A" {
			looked <- struct{}{}
		}
		return r.Intent == "B"
	})
	if err != nil || r.Position != 2 {
		t.Errorf("a new one: %v (%v)", r, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := b.AwaitRecord(ctx, is("C")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one that never comes: %v", err)
	}
}
