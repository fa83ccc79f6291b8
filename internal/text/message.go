package text

import (
	"cmp"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Message is a text for people that is not yet in a language: an English format of package fmt, by which the
// catalogue has it, and its arguments, of which Messages, errors, Redacted, times, durations and Ranges are
// written as the language does. In JSON it is English.
type Message struct {
	Format string
	Args   []any
}

// Messagef returns a message. The format is a literal, so that the test of the catalogue finds it.
func Messagef(format string, args ...any) Message {
	if false {
		_ = fmt.Sprintf(format, args...) // go vet then checks format and arguments of all callers
	}
	return Message{format, args}
}

// String returns the message in English.
func (m Message) String() string { return In(English).Text(m) }

// Error does too: as an error a message is one that people read in their language.
func (m Message) Error() string { return m.String() }

// MarshalText returns the message in English.
func (m Message) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a format.
func (m *Message) UnmarshalText(format []byte) error {
	m.Format = string(format)
	return nil
}

// Printer writes texts for people in one language, with times in one zone. It is safe for concurrent use.
type Printer struct {
	manner

	language Language
	zone     *time.Location
}

// manner is how a language writes.
type manner struct {
	column  int              // of the catalogue
	numbers *message.Printer // 1,234 or 1.234
	// second, clock and day are the layouts of times: to the second, the time of day to the millisecond, and
	// a day. English is exact by itself; in Portuguese the zone is only in the line [Printer.Zone].
	second, clock, day string
}

var manners = map[Language]manner{
	English: {0, message.NewPrinter(language.English), time.RFC3339, "15:04:05.000", time.DateOnly},
	Portuguese: {
		1, message.NewPrinter(language.BrazilianPortuguese),
		"02/01/2006 15:04:05", "15:04:05,000", "02/01/2006",
	},
}

// In returns the printer of a language, with times in UTC.
func In(l Language) *Printer { return NewPrinter(l, time.UTC) }

// NewPrinter returns a printer of a language and a zone.
func NewPrinter(l Language, zone *time.Location) *Printer {
	l = cmp.Or(l, English)
	return &Printer{manners[l], l, zone}
}

// Language returns the language of the texts.
func (p *Printer) Language() Language { return p.language }

// Text returns a message in the printer's language.
func (p *Printer) Text(m Message) string {
	args := slices.Clone(m.Args) // a message may be printed in several languages at once
	for i, arg := range args {
		switch inner := arg.(type) {
		case Message:
			args[i] = p.Text(inner)
		case error:
			args[i] = p.Error(inner)
		case Redacted:
			args[i] = p.Redacted(string(inner))
		case time.Time:
			args[i] = p.Time(inner)
		case time.Duration:
			args[i] = p.Span(inner)
		case Range:
			args[i] = p.between(inner)
		}
	}
	format := m.Format
	if words := catalogue()[format]; words != nil {
		if len(words) == 4 && fmt.Sprint(args[0]) == "1" {
			words = words[2:]
		}
		format = words[p.column]
	}
	return p.numbers.Sprintf(format, args...)
}

// Error words an error: the Messages that it wraps, and what a system says, in the printer's language. Of
// what failed with a file or a number it does not name the call, such as lstat.
func (p *Printer) Error(err error) string {
	var wrapped []error
	switch e := err.(type) { //nolint:errorlint // what is wrapped follows
	case Message:
		return p.Text(e)
	case Findings:
		var lines []string
		for i := range e {
			lines = append(lines, e[i].line(p))
		}
		return strings.Join(lines, "\n")
	case *fs.PathError:
		return e.Path + ": " + p.Error(e.Err)
	case *strconv.NumError:
		return p.Error(e.Err)
	case interface{ Unwrap() error }:
		wrapped = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		wrapped = e.Unwrap()
	default:
		return p.Name("error", err.Error())
	}
	words := err.Error()
	for _, one := range wrapped {
		if one != nil {
			words = strings.Replace(words, one.Error(), p.Error(one), 1)
		}
	}
	return words
}

// Sprintf formats by [fmt.Sprintf] in the printer's language, numbers as that language writes them: 1,234 or
// 1.234. The format is a literal, in English, that the catalogue has. Arguments are written as those of a
// [Message].
//
// A number that identifies something, such as a key, is given as a text.
func (p *Printer) Sprintf(format string, args ...any) string {
	return p.Text(Messagef(format, args...))
}

// Name returns what a code of a group is called, such as the standing overdue: the code itself where it has
// no name.
func (p *Printer) Name(group, code string) string {
	if words := catalogue()[group+" "+code]; words != nil {
		return words[p.column]
	}
	return code
}

// Redacted is a redacted text as an argument of a Message.
type Redacted string

// mark may be one that redaction puts in the place of what may be about a person.
var mark = regexp.MustCompile(`\[[^][]+\]`)

// Redacted returns a stored text with its marks in the printer's language.
func (p *Printer) Redacted(stored string) string {
	return mark.ReplaceAllStringFunc(stored, func(m string) string { return p.Name("mark", m) })
}
