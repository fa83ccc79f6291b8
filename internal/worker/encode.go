package worker

import (
	"strconv"
	"time"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/audit"
)

// maxOriginalError is how much of the error text is echoed into the process. A process variable is copied with every
// event of the instance; a megabyte of HTML from a proxy does not belong there.
const maxOriginalError = 8 << 10

// encodeDetail writes what is kept beside the answer; see [audit.Detail]. It is written out by hand because it runs for
// every job; its test reads it back.
func encodeDetail(d *audit.Detail) string {
	b := make([]byte, 0, 512)
	b = append(b, `{"processId":`...)
	b = appendString(b, d.ProcessID)
	b = append(b, `,"elementId":`...)
	b = appendString(b, d.ElementID)
	if d.SubmissionError != "" {
		b = append(b, `,"submissionError":`...)
		b = appendString(b, d.SubmissionError)
	}
	if d.Steps != nil {
		b = append(b, `,"steps":{"errorReceived":"`...)
		b = d.Steps.ErrorReceived.AppendFormat(b, time.RFC3339Nano)
		b = append(b, `","afterMicros":`...)
		separator := byte('[')
		for _, after := range d.Steps.AfterMicros {
			b = append(b, separator)
			b = strconv.AppendInt(b, after, 10)
			separator = ','
		}
		b = append(b, `]}`...)
	}
	if d.ExecutionTimeMs != 0 {
		b = append(b, `,"executionTimeMs":`...)
		b = strconv.AppendFloat(b, d.ExecutionTimeMs, 'f', -1, 64)
	}
	if d.Attempts != 0 {
		b = append(b, `,"attempts":`...)
		b = strconv.AppendInt(b, int64(d.Attempts), 10)
	}
	if d.FirstFailureTime != nil {
		b = append(b, `,"firstFailureTime":"`...)
		b = d.FirstFailureTime.AppendFormat(b, time.RFC3339Nano)
		b = append(b, '"')
	}
	if d.Justification != "" {
		b = append(b, `,"justification":`...)
		b = appendString(b, d.Justification)
	}
	if d.Operator != "" {
		b = append(b, `,"operator":`...)
		b = appendString(b, d.Operator)
	}
	if d.RedriveID != "" {
		b = append(b, `,"redriveId":`...)
		b = appendString(b, d.RedriveID)
	}
	return string(append(b, '}'))
}

// cut shortens an error text that is echoed, and says so.
func cut(text string) string {
	if len(text) <= maxOriginalError {
		return text
	}
	return cutTo(text, maxOriginalError) + " [cut at 8 KiB, was " + strconv.Itoa(len(text)) + " bytes]"
}

// cutTo shortens a text to so many bytes, never inside a character.
func cutTo(text string, end int) string {
	if len(text) <= end {
		return text
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// appendString writes a JSON string. The text is valid UTF-8, because it came out of a JSON decoder.
func appendString(b []byte, text string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	clean := 0
	for i := range len(text) {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, text[clean:i]...)
		clean = i + 1
		if c == '"' || c == '\\' {
			b = append(b, '\\', c)
		} else {
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
	}
	return append(append(b, text[clean:]...), '"')
}
