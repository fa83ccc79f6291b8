package text

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/testing/check"
)

// usedTexts returns the formats that the code has for people, with the places where it has them: the literals
// that are the first argument of Messagef, sayf, linef and a Sprintf that is not fmt's.
func usedTexts(t *testing.T) map[string]string {
	t.Helper()
	used := map[string]string{}
	fset := token.NewFileSet()
	source := func(path string, entry fs.DirEntry, err error) error {
		code := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && path != "../text/message.go"
		if err != nil || entry.IsDir() || !code {
			return err
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if field, is := n.(*ast.Field); is && field.Tag != nil { // of package config
				tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`"))
				used[tag.Get("desc")], used[tag.Get("want")] = path, path
			}
			call, is := n.(*ast.CallExpr)
			if is && named(call.Fun) == "heads" { // of package cli
				for _, head := range call.Args {
					text, _ := literal(head)
					used[text] = fset.Position(head.Pos()).String()
				}
			}
			if !is || !formatsForPeople(call.Fun) {
				if is && isForNobody(path, call) {
					t.Errorf("%s: an error of a command is a Message", fset.Position(call.Pos()))
				}
				if is && called(call.Fun) == "p.lower" { // of package errtext: why evidence does not count
					why, _ := literal(call.Args[1])
					used["passed-over "+why] = path
				}
				return true
			}
			where := fset.Position(call.Pos()).String()
			if format, is := literal(call.Args[0]); is {
				used[format] = where
			} else if !call.Ellipsis.IsValid() { // else its callers are looked at
				t.Errorf("%s: the format is not a literal", where)
			}
			return true
		})
		return nil
	}
	check.Must(t, filepath.WalkDir("..", source))
	for _, file := range []string{"../modellint/mistakes.yaml", "../retry/policy/mistakes.yaml"} { // which lint has as data
		var mistakes map[string]Finding
		content, err := os.ReadFile(file)
		check.Must(t, err)
		check.Must(t, yaml.Unmarshal(content, &mistakes))
		for name, f := range mistakes {
			for _, m := range []Message{f.What, f.Effect, f.Advice} {
				used[m.Format] = file + ": " + name
			}
		}
	}
	delete(used, "")
	return used
}

func formatsForPeople(function ast.Expr) bool {
	name := named(function)
	return slices.Contains([]string{"Messagef", "sayf", "linef"}, name) ||
		name == "Sprintf" && called(function) != "fmt.Sprintf"
}

// named is the name of a method, or of a function of another package.
func named(function ast.Expr) string {
	if selector, is := function.(*ast.SelectorExpr); is {
		return selector.Sel.Name
	}
	return ""
}

var word = regexp.MustCompile(`(^|[^%])[a-z]{2,}`)

// isForNobody reports whether a command makes an error in English only. Those of flags are worded by cobra.
func isForNobody(path string, call *ast.CallExpr) bool {
	name := called(call.Fun)
	if !strings.HasPrefix(path, "../cli/") || path == "../cli/flags.go" || name != "fmt.Errorf" && name != "errors.New" {
		return false
	}
	format, is := literal(call.Args[0])
	return is && word.MatchString(format)
}

// called is the function or method that is called, such as fmt.Errorf, as far as two names say it.
func called(function ast.Expr) string {
	if selector, is := function.(*ast.SelectorExpr); is {
		if of, is := selector.X.(*ast.Ident); is {
			return of.Name + "." + selector.Sel.Name
		}
	}
	return ""
}

// literal returns the value of a text, which may be several joined by +.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, isLeft := literal(e.X)
		right, isRight := literal(e.Y)
		return left + right, isLeft && isRight && e.Op == token.ADD
	default:
		return "", false
	}
}

func TestEveryTextIsInTheCatalogueOnce(t *testing.T) {
	known, used := map[string]bool{}, usedTexts(t)
	for _, row := range rows() {
		isName := len(row) == 3 // those are by code
		if known[row[0]] {
			t.Errorf("the catalogue has %q twice", row[0])
		}
		if used[row[0]] == "" && !isName {
			t.Errorf("the catalogue has %q, which no code uses", row[0])
		}
		known[row[0]] = true
	}
	for format, where := range used {
		if !known[format] {
			t.Errorf("%s: the catalogue lacks %q", where, format)
		}
	}
	for _, row := range errtext.TableOf(errtext.TableTerms).Rows {
		if !known["sign "+row.Sign] {
			t.Errorf("the catalogue lacks the sign %s", row.Sign)
		}
	}
}

var placeholder = regexp.MustCompile(`%(?:\[(\d+)\])?([-+# 0-9.]*)([a-zA-Z%])`)

// placeholders returns the arguments that a format takes and how, in the order of the arguments.
func placeholders(format string) []string {
	var all []string
	next := 1
	for _, found := range placeholder.FindAllStringSubmatch(format, -1) {
		if found[3] == "%" {
			continue
		}
		if found[1] != "" {
			next, _ = strconv.Atoi(found[1])
		}
		all = append(all, strconv.Itoa(next)+found[2]+found[3])
		next++
	}
	slices.Sort(all)
	return all
}

func TestPlaceholdersAgreeInBothLanguages(t *testing.T) {
	for _, row := range rows() {
		if len(row) < 2 || len(row) > 4 {
			t.Errorf("%q has %d columns", row[0], len(row))
		}
		for _, text := range row {
			check.Same(t, placeholders(row[0]), placeholders(text), "%q", text)
		}
	}
}
