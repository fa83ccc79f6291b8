package text

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// usedTexts returns the formats that the code has for people, with the places where it has them: the literals that are the
// first argument of Messagef and of a Sprintf that is not fmt's.
func usedTexts(t *testing.T) map[string]string {
	t.Helper()
	used := map[string]string{}
	fset := token.NewFileSet()
	source := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || path == "../text/message.go" {
			return err
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || !formatsForPeople(call.Fun) {
				return true
			}
			where := fset.Position(call.Pos()).String()
			if format, is := literal(call.Args[0]); is {
				used[format] = where
			} else {
				t.Errorf("%s: the format is not a literal", where)
			}
			return true
		})
		return nil
	}
	check.Must(t, filepath.WalkDir("..", source))
	return used
}

func formatsForPeople(function ast.Expr) bool {
	selector, is := function.(*ast.SelectorExpr)
	if !is {
		return false
	}
	of, _ := selector.X.(*ast.Ident)
	return selector.Sel.Name == "Messagef" || selector.Sel.Name == "Sprintf" && (of == nil || of.Name != "fmt")
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

func TestEveryTextIsInTheCatalogue(t *testing.T) {
	known, used := texts(), usedTexts(t)
	for format, where := range used {
		if _, is := counts[format]; !is && known[format] == "" {
			t.Errorf("%s: the catalogue lacks %q", where, format)
		}
	}
	for format := range known {
		if used[format] == "" {
			t.Errorf("the catalogue has %q, which no code uses", format)
		}
	}
	for format := range counts {
		if used[format] == "" {
			t.Errorf("the catalogue counts %q, which no code uses", format)
		}
	}
}

func TestEveryTextIsInOneTable(t *testing.T) {
	total := 0
	for _, area := range areas {
		total += len(area)
	}
	check.Same(t, total, len(texts()), "texts of all tables")
	for format := range counts {
		if texts()[format] != "" {
			t.Errorf("%q is both a text and a count", format)
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
	for format, text := range texts() {
		check.Same(t, placeholders(format), placeholders(text), "%q", text)
	}
	for many, c := range counts {
		for _, text := range []string{c.one, c.um, c.muitos} {
			check.Same(t, placeholders(many), placeholders(text), "%q", text)
		}
	}
}
