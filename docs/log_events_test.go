package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/testing/check"
)

// message is where each method of a zap.Logger takes the message.
var message = map[string]int{"Debug": 0, "Info": 0, "Warn": 0, "Error": 0, "DPanic": 0, "Panic": 0, "Fatal": 0, "Log": 1, "Check": 1}

var eventName = regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`)

// logCalls are the events and the fields that the source of the worker logs.
type logCalls struct {
	fset *token.FileSet
	// levels are those of each event, by the method that logs it; empty where a variable holds the level.
	levels map[string][]string
	fields map[string]bool
	// named are the names of events that are assigned to a field of a struct, such as Lost; constants are those of each
	// directory.
	named     map[string][]string
	constants map[string]map[string]string
	faults    []string
}

// readLogCalls parses all files of the worker that are no tests.
func readLogCalls(t *testing.T) *logCalls {
	t.Helper()
	c := &logCalls{
		fset: token.NewFileSet(), levels: map[string][]string{}, fields: map[string]bool{}, named: map[string][]string{},
		constants: map[string]map[string]string{},
	}
	parsed := map[string]*ast.File{}
	for path, text := range files(t, ".go") {
		inside := strings.HasPrefix(path, filepath.FromSlash("../internal/")) || strings.HasPrefix(path, filepath.FromSlash("../cmd/worker/"))
		if !inside || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, filepath.FromSlash("../internal/testing/")) {
			continue
		}
		file, err := parser.ParseFile(c.fset, path, text, parser.SkipObjectResolution)
		check.Must(t, err)
		parsed[path] = file
	}
	for path, file := range parsed {
		c.note(filepath.Dir(path), file)
	}
	for path, file := range parsed {
		for _, declaration := range file.Decls {
			ast.Inspect(declaration, func(n ast.Node) bool {
				if call, is := n.(*ast.CallExpr); is {
					c.call(filepath.Dir(path), declaration, call)
				}
				return true
			})
		}
	}
	return c
}

// note notes the constants of a file, and the names of events that are assigned to fields.
func (c *logCalls) note(dir string, file *ast.File) {
	if c.constants[dir] == nil {
		c.constants[dir] = map[string]string{}
	}
	for _, declaration := range file.Decls {
		general, is := declaration.(*ast.GenDecl)
		if !is || general.Tok != token.CONST {
			continue
		}
		for _, spec := range general.Specs {
			value := spec.(*ast.ValueSpec)
			for i, name := range value.Names {
				if i < len(value.Values) {
					c.constants[dir][name.Name], _ = literal(value.Values[i])
				}
			}
		}
	}
	field := func(name string, value ast.Expr) {
		if event, is := literal(value); is && eventName.MatchString(event) {
			c.named[name] = append(c.named[name], event)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if selector, is := left.(*ast.SelectorExpr); is && len(n.Lhs) == len(n.Rhs) {
					field(selector.Sel.Name, n.Rhs[i])
				}
			}
		case *ast.KeyValueExpr:
			if key, is := n.Key.(*ast.Ident); is {
				field(key.Name, n.Value)
			}
		}
		return true
	})
}

// call notes a call that logs an event, or makes a field. Of a logger it is a fault if the event is not known.
func (c *logCalls) call(dir string, within ast.Decl, call *ast.CallExpr) {
	method, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return
	}
	if of, is := method.X.(*ast.Ident); len(call.Args) > 0 && (is && of.Name == "zap" || strings.HasPrefix(method.Sel.Name, "Add")) {
		if name, is := literal(call.Args[0]); is {
			c.fields[name] = true
		}
	}
	at, logs := message[method.Sel.Name]
	if !logs || len(call.Args) <= at {
		return
	}
	level := strings.ToLower(method.Sel.Name)
	if at > 0 {
		level = ""
	}
	event, constant := literal(call.Args[at])
	switch {
	case constant && eventName.MatchString(event):
		c.logged(level, event)
	case !isLogger(method.X):
	case constant:
		c.fault(call, "the event "+strconv.Quote(event)+" is not of the form lower_case_words")
	default:
		events := c.resolve(dir, within, call.Args[at])
		if len(events) == 0 {
			c.fault(call, "the event that is logged is not known: pass a constant")
		}
		for _, event := range events {
			c.logged(level, event)
		}
	}
}

func (c *logCalls) logged(level, event string) {
	if !slices.Contains(c.levels[event], level) {
		c.levels[event] = append(c.levels[event], level)
	}
}

func (c *logCalls) fault(n ast.Node, text string) {
	c.faults = append(c.faults, c.fset.Position(n.Pos()).String()+": "+text)
}

// resolve returns the events that a field, a constant or a variable of the function holds; none where one of its values is
// no literal.
func (c *logCalls) resolve(dir string, within ast.Decl, of ast.Expr) (events []string) {
	if field, is := of.(*ast.SelectorExpr); is {
		return c.named[field.Sel.Name]
	}
	name, is := of.(*ast.Ident)
	if !is {
		return nil
	}
	known := true
	assigned := func(left []ast.Expr, right []ast.Expr) {
		for i, l := range left {
			if ident, is := l.(*ast.Ident); !is || ident.Name != name.Name {
				continue
			}
			event, is := "", false
			if len(left) == len(right) {
				event, is = literal(right[i])
			}
			known = known && is && eventName.MatchString(event)
			events = append(events, event)
		}
	}
	ast.Inspect(within, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			assigned(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			var names []ast.Expr
			for _, name := range n.Names {
				names = append(names, name)
			}
			if len(n.Values) > 0 {
				assigned(names, n.Values)
			}
		}
		return true
	})
	if event := c.constants[dir][name.Name]; len(events) == 0 && eventName.MatchString(event) {
		events = []string{event}
	}
	if !known {
		return nil
	}
	return events
}

// literal returns the value of a string literal.
func literal(e ast.Expr) (string, bool) {
	basic, is := e.(*ast.BasicLit)
	if !is || basic.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(basic.Value)
	return value, err == nil
}

// isLogger reports whether an expression is called like a logger: log, a.log, h.opt.Logger, log.With(...).
func isLogger(e ast.Expr) bool {
	name := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	case *ast.CallExpr:
		method, is := e.Fun.(*ast.SelectorExpr)
		return is && (method.Sel.Name == "L" || slices.Contains([]string{"With", "Named", "WithOptions", "WithLazy"}, method.Sel.Name) && isLogger(method.X))
	}
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "log") || strings.HasSuffix(name, "logger")
}

// eventRow is a row of a table of log-events.md.
type eventRow struct{ event, level, fields string }

func eventRows(t *testing.T) (rows []eventRow) {
	t.Helper()
	page, err := os.ReadFile("log-events.md")
	check.Must(t, err)
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		name := strings.TrimSpace(cells[0])
		if event := strings.Trim(name, "`"); len(cells) == 5 && event != name {
			rows = append(rows, eventRow{event, strings.TrimSpace(cells[1]), cells[3]})
		}
	}
	return rows
}

func TestEveryLogEventIsDescribed(t *testing.T) {
	t.Parallel()
	source := readLogCalls(t)
	for _, fault := range source.faults {
		t.Error(fault)
	}
	if len(source.levels) < 60 {
		t.Errorf("found only %d events in the source", len(source.levels))
	}
	var described []string
	for _, row := range eventRows(t) {
		described = append(described, row.event)
		levels := slices.Sorted(slices.Values(source.levels[row.event]))
		if len(levels) > 0 && !slices.Contains(levels, "") && row.level != strings.Join(levels, " or ") {
			t.Errorf("%s is logged as %s; log-events.md says %q", row.event, strings.Join(levels, " or "), row.level)
		}
	}
	slices.Sort(described)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(source.levels)), described); diff != "" {
		t.Errorf("events that the worker logs and the tables of log-events.md (-source +page):\n%s", diff)
	}
}

func TestEveryFieldOfALogEventExists(t *testing.T) {
	t.Parallel()
	source := readLogCalls(t)
	source.fields["error"] = true // zap.Error
	named := 0
	for _, row := range eventRows(t) {
		for _, field := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row.fields, -1) {
			if named++; !source.fields[field[1]] {
				t.Errorf("log-events.md: no field of %s is called %s", row.event, field[1])
			}
		}
	}
	if named < 60 {
		t.Errorf("found only %d names of fields in log-events.md", named)
	}
}
