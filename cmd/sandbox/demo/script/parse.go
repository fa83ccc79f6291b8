package script

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// columns are the names that the header may hold, in any order. Those that need not be there may also be empty.
var columns = []struct {
	name     string
	required bool
}{
	{"claim", true},
	{"shows", false},
	{"answers", true},
	{"outcomes", false},
	{"people", false},
	{"end", true},
}

// Fault is one mistake in the file.
type Fault struct {
	// Line counts from 1, as editors do.
	Line int
	Text string
}

// Faults are all the mistakes in a file, in the order of its lines.
type Faults []Fault

// Error lists the mistakes, one a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fmt.Sprintf("line %d: %s", fault.Line, fault.Text)
	}
	return strings.Join(lines, "\n")
}

// Parse reads claims. Where the content has mistakes, the error is [Faults] with all of them.
//
// It takes what spreadsheets make of the file: commas or semicolons between the cells, a byte order mark, any line end,
// rows that are all empty.
func Parse(r io.Reader) ([]Claim, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	p := parser{seen: map[string]int{}}
	claims := p.parse(bytes.TrimPrefix(raw, []byte("\uFEFF")))
	if len(p.faults) > 0 {
		slices.SortStableFunc(p.faults, func(a, b Fault) int { return a.Line - b.Line })
		return nil, p.faults
	}
	return claims, nil
}

// parser collects the faults of one file.
type parser struct {
	reader *csv.Reader
	// index is where in a row each column of the file stands.
	index map[string]int
	// seen are the claim numbers of the lines so far.
	seen   map[string]int
	faults Faults
}

func (p *parser) fault(line int, format string, args ...any) {
	p.faults = append(p.faults, Fault{line, fmt.Sprintf(format, args...)})
}

func (p *parser) parse(raw []byte) []Claim {
	p.reader = csv.NewReader(bytes.NewReader(raw))
	p.reader.FieldsPerRecord = -1 // counted below, to go on after a fault
	firstLine, _, _ := bytes.Cut(raw, []byte("\n"))
	if bytes.Count(firstLine, []byte(";")) > bytes.Count(firstLine, []byte(",")) {
		p.reader.Comma = ';'
	}
	header := p.next()
	if header == nil {
		if len(p.faults) == 0 {
			p.fault(1, "the file is empty: its first line names the columns")
		}
		return nil
	}
	if !p.readHeader(header) {
		return nil
	}
	var claims []Claim
	for row := p.next(); row != nil; row = p.next() {
		if len(row) != len(header) {
			line, _ := p.reader.FieldPos(0)
			p.fault(line, "%d cells, but the header has %d (a cell that contains a separator or a quote stands in quotes)",
				len(row), len(header))
			continue
		}
		claims = append(claims, p.claim(row))
	}
	if len(claims) == 0 && len(p.faults) == 0 {
		p.fault(1, "there is no claim in the file")
	}
	return claims
}

// next returns the next row that is not all empty, nil at the end.
func (p *parser) next() []string {
	for {
		row, err := p.reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if wrong := (*csv.ParseError)(nil); errors.As(err, &wrong) {
			// Where the quotes do not match, there is no way to know what is a cell and what is a line.
			p.fault(wrong.StartLine, "%v in the row that begins here, seen at line %d; what follows it was not read",
				wrong.Err, wrong.Line)
			return nil
		}
		if err != nil {
			p.fault(1, "%v", err)
			return nil
		}
		if slices.ContainsFunc(row, func(cell string) bool { return strings.TrimSpace(cell) != "" }) {
			return row
		}
	}
}

func (p *parser) readHeader(header []string) bool {
	p.index = map[string]int{}
	var known []string
	for _, column := range columns {
		known = append(known, column.name)
	}
	for i, cell := range header {
		name := strings.ToLower(strings.TrimSpace(cell))
		line, _ := p.reader.FieldPos(i)
		if !slices.Contains(known, name) {
			p.fault(line, "there is no column %q, only %s", cell, strings.Join(known, ", "))
		}
		if _, twice := p.index[name]; twice {
			p.fault(line, "the column %s is there twice", name)
		}
		p.index[name] = i
	}
	for _, column := range columns {
		if _, there := p.index[column.name]; column.required && !there {
			p.fault(1, "the column %s is missing", column.name)
		}
	}
	return len(p.faults) == 0
}

// cell is what a row holds in a column, and the line where it begins.
func (p *parser) cell(row []string, column string) (text string, line int) {
	i, there := p.index[column]
	if !there {
		return "", 0
	}
	line, _ = p.reader.FieldPos(i)
	text = strings.TrimLeft(row[i], " \t\n")
	line += strings.Count(row[i][:len(row[i])-len(text)], "\n")
	return strings.TrimSpace(text), line
}

// entry is one line of a cell that holds several.
type entry struct {
	text string
	line int
}

// entries are the lines of a cell; there are none in an empty one.
func (p *parser) entries(row []string, column string) []entry {
	text, line := p.cell(row, column)
	if text == "" {
		return nil
	}
	var all []entry
	for i, part := range strings.Split(text, "\n") {
		all = append(all, entry{strings.TrimSpace(part), line + i})
	}
	return all
}
