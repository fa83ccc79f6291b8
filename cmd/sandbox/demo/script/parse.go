// Package script reads the file that the demo plays: which claims there are, what the insurer answers to each
// submission, what people do, and how each claim must end. examples/README.md describes the file.
package script

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
)

// Claim is one row of the file. Its JSON form is part of the demo's result.
type Claim struct {
	// ID is the claim number with which the process is started. It is unique in the file.
	ID string `json:"claim"`
	// Line is where the claim begins in the file, from 1.
	Line int `json:"line"`
	// Shows says in a few words what the claim is there to show; it may be empty.
	Shows string `json:"shows,omitempty"`
	// Answers are the insurer's, one for each submission: [Accepted], [Empty] or the text of an error. There
	// is at least one.
	Answers []string `json:"-"`
	// Outcomes are what must become of each submission, more than one of them as in "INCIDENT, TRANSIENT";
	// nil where the file does not say.
	Outcomes []string `json:"-"`
	// Acts are what people do with the claim, in order.
	Acts []Act `json:"-"`
	// End is how it must end.
	End string `json:"expectedEnd"`
}

// Act is one thing that a person does. Who is [Billing], [Registration] or [Operator].
type Act struct {
	Who                     string
	Decision, Justification string // a team's
	Variable, Value         string // the operator's correction
}

// The words of the file.
const (
	// Accepted takes the claim, as an answer and as an outcome; Empty refuses it and gives no reason.
	Accepted = "OK"
	Empty    = "EMPTY"
	// Incident is a submission whose analysis refused its input, or a claim that is left so.
	Incident = "INCIDENT"
	// Submitted and Abandoned are the other ends.
	Submitted = "SUBMITTED"
	Abandoned = "ABANDONED"
	// The teams are named as in the model. An operator corrects a variable and resolves the incident.
	Billing      = "billing"
	Registration = "registration"
	Operator     = "operator"
	// The decisions of a team, as the model knows them.
	Resubmit = "RESUBMIT"
	Abandon  = "ABANDON"
)

var (
	columns  = []string{"claim", "shows", "answers", "outcomes", "people", "end"}
	required = []string{"claim", "answers", "end"}
	outcomes = []string{
		Accepted, string(retry.Transient), string(retry.Unknown), retry.CodePermanentError, retry.CodeMaxRetriesExceeded, Incident,
	}
	ends = []string{Submitted, Abandoned, Incident}
	// correctable are the variables that the start of the process and the insurer give.
	correctable = []string{"claimId", "submissionError"}
)

// IDs are all the claim numbers that the claim goes by: an operator may correct it.
func (c Claim) IDs() []string {
	ids := []string{c.ID}
	for _, act := range c.Acts {
		if act.Variable == "claimId" && act.Value != c.ID {
			ids = append(ids, act.Value)
		}
	}
	return ids
}

// Faults are all the mistakes in a file, in the order of its rows, each with the line where its row begins.
type Faults []string

// Error lists the mistakes, one a line.
func (f Faults) Error() string { return strings.Join(f, "\n") }

// Parse reads claims. Where the content has mistakes, the error is [Faults] with all of them.
//
// It takes what spreadsheets make of the file: commas or semicolons between the cells, a byte order mark, any
// line end, rows that are all empty.
func Parse(r io.Reader) ([]Claim, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
	p := &parser{rows: csv.NewReader(bytes.NewReader(raw)), line: 1, seen: map[string]int{}}
	if first, _, _ := bytes.Cut(raw, []byte("\n")); bytes.Count(first, []byte(";")) > bytes.Count(first, []byte(",")) {
		p.rows.Comma = ';'
	}
	var claims []Claim
	for p.readHeader(); p.header != nil && p.next(); {
		claims = append(claims, p.claim())
	}
	if len(claims) == 0 && p.faults == nil {
		p.fault("there is no claim in the file")
	}
	if p.faults != nil {
		return nil, p.faults
	}
	return claims, nil
}

// parser reads one file row by row.
type parser struct {
	rows   *csv.Reader
	header []string
	line   int // where the row begins
	row    map[string]string
	seen   map[string]int // the lines of the claim numbers so far
	faults Faults
}

func (p *parser) fault(format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf("line %d: ", p.line)+fmt.Sprintf(format, args...))
}

// readHeader leaves header nil where it has a fault.
func (p *parser) readHeader() {
	cells, err := p.rows.Read()
	if err != nil {
		p.fault("the first line must name the columns: %v", err)
		return
	}
	for i, cell := range cells {
		cells[i] = strings.ToLower(strings.TrimSpace(cell))
		if !slices.Contains(columns, cells[i]) {
			p.fault("there is no column %q, only %s", cell, list(columns))
		}
		if slices.Contains(cells[:i], cells[i]) {
			p.fault("the column %s is there twice", cells[i])
		}
	}
	for _, name := range required {
		if !slices.Contains(cells, name) {
			p.fault("the column %s is missing", name)
		}
	}
	if p.faults == nil {
		p.header = cells
	}
}

// next goes on to the next row that is not all empty, and reports whether there is one.
func (p *parser) next() bool {
	for {
		cells, err := p.rows.Read()
		if errors.Is(err, io.EOF) {
			return false
		}
		if broken := (*csv.ParseError)(nil); errors.As(err, &broken) {
			p.line = broken.StartLine
		}
		switch {
		case errors.Is(err, csv.ErrFieldCount):
			p.fault("%d cells, but the header has %d (a cell that contains a separator or a quote stands in quotes)", len(cells), len(p.header))
			continue
		case err != nil: // where the quotes do not match, there is no way to know what is a cell and what is a line
			p.fault("%v; the rest of the file was not read", errors.Unwrap(err))
			return false
		}
		p.line, _ = p.rows.FieldPos(0)
		p.row = map[string]string{}
		for i, cell := range cells {
			p.row[p.header[i]] = strings.TrimSpace(cell)
		}
		if strings.Join(slices.Collect(maps.Values(p.row)), "") != "" {
			return true
		}
	}
}

// lines returns the lines of a cell; there are none in an empty one.
func (p *parser) lines(column string) []string {
	if p.row[column] == "" {
		return nil
	}
	all := strings.Split(p.row[column], "\n")
	for i, line := range all {
		all[i] = strings.TrimSpace(line)
	}
	return all
}

// claim reads the row. What is wrong in it becomes faults.
func (p *parser) claim() Claim {
	c := Claim{Line: p.line, ID: p.row["claim"], Shows: p.row["shows"], Answers: p.lines("answers"), End: p.row["end"]}
	p.checkAnswers(c.Answers)
	c.Outcomes = p.outcomes(c.Answers)
	c.Acts = p.acts()
	if !slices.Contains(ends, c.End) {
		p.fault("%q is no end; there are %s", c.End, list(ends))
	}
	if c.ID == "" {
		p.fault("claim is empty: give its number")
		return c
	}
	for _, number := range c.IDs() {
		if first, twice := p.seen[number]; twice {
			p.fault("the claim %s is there already, at line %d", number, first)
		}
		p.seen[number] = p.line
	}
	return c
}

func (p *parser) checkAnswers(answers []string) {
	if len(answers) == 0 {
		p.fault("answers is empty: give one line for each submission, %s or the text of an error", Accepted)
	}
	for i, answer := range answers {
		switch {
		case answer == "":
			p.fault("answer %d is empty: write %s for a refusal without a text", i+1, Empty)
		case answer == Accepted && i < len(answers)-1:
			p.fault("answer %d is %s, but a claim that is accepted is not submitted again", i+1, Accepted)
		}
	}
}

// outcomes reads one line for each answer. A submission has more than one outcome where an operator resolves
// its incident: "INCIDENT, TRANSIENT".
func (p *parser) outcomes(answers []string) []string {
	all := p.lines("outcomes")
	if all != nil && len(all) != len(answers) {
		p.fault("outcomes and answers differ in number: %d and %d lines", len(all), len(answers))
	}
	for i, line := range all {
		words := strings.Split(line, ",")
		for n, word := range words {
			if words[n] = strings.TrimSpace(word); !slices.Contains(outcomes, words[n]) {
				p.fault("%q is no outcome; there are %s", words[n], list(outcomes))
			}
		}
		if i < len(answers) && slices.Contains(words, Accepted) != (answers[i] == Accepted) {
			p.fault("the outcome %s does not go with the answer: %s goes with %s only", line, Accepted, Accepted)
		}
		all[i] = list(words)
	}
	return all
}

func (p *parser) acts() (acts []Act) {
	for _, line := range p.lines("people") {
		who, what, _ := strings.Cut(line, " ")
		act := Act{Who: who}
		switch who {
		case Billing, Registration:
			act.Decision, act.Justification, _ = strings.Cut(strings.TrimSpace(what), " ")
			act.Justification = strings.TrimSpace(act.Justification)
			switch {
			case act.Decision != Resubmit && act.Decision != Abandon:
				p.fault("%s decides %q; a team decides %s or %s", who, act.Decision, Resubmit, Abandon)
			case act.Justification == "":
				p.fault("%s %s lacks the justification: without one the model gives the task back", who, act.Decision)
			}
		case Operator:
			act.Variable, act.Value, _ = strings.Cut(what, "=")
			act.Variable, act.Value = strings.TrimSpace(act.Variable), strings.TrimSpace(act.Value)
			if !slices.Contains(correctable, act.Variable) || act.Value == "" {
				p.fault("%s: write variable=value; the variables are %s", line, list(correctable))
			}
		default:
			p.fault("%q does nothing here; there are %s", who, list([]string{Billing, Registration, Operator}))
		}
		acts = append(acts, act)
	}
	return acts
}

func list(words []string) string { return strings.Join(words, ", ") }
