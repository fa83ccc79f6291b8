//go:build clients

package clients

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// feelGenerator draws expressions of the grammar that our FEEL knows. Most parts have the type that is needed.
type feelGenerator struct{ *rand.Rand }

// feelVariables are the sets of variables that each expression is evaluated with.
var feelVariables = []string{
	`{}`,
	`{"a": "text", "n": 1, "b": true, "l": [1, "x", null], "c": {"a": "\\S", "n": 2}, "x": null}`,
	`{"a": null, "n": 2.5, "b": false, "l": [{"a": "x", "n": 1}, {"n": 5}], "c": {"c": {}, "l": [[1]]}, "x": "PT5M"}`,
	`{"a": 3, "n": "1", "b": "true", "l": {"a": [1]}, "c": [], "x": -7}`,
}

// result is an expression that may also be a duration or a date and time.
func (g feelGenerator) result() string {
	switch g.IntN(10) {
	case 0:
		return "if " + g.boolean(2) + " then " + g.temporal() + " else " + g.any(2)
	case 1:
		return g.temporal()
	}
	return g.any(4)
}

func (g feelGenerator) of(all ...string) string { return all[g.IntN(len(all))] }

func (g feelGenerator) temporal() string {
	return g.of(
		`duration("PT1H30M")`, `duration("P2D")`, `duration("-PT90S")`, `duration("PT0S")`, `duration("PT0.5S")`,
		`duration("-PT0.5S")`, `duration("PT-5M")`, `duration(`+g.text(2)+`)`,
		`duration("PT" + string(`+g.of("n", "x", "5", "-5", "1.50")+`) + "M")`,
		`now()`, `date and time(now(), "America/Sao_Paulo")`, `date and time(`+g.any(2)+`, "Europe/Berlin")`)
}

func (g feelGenerator) any(depth int) string {
	return []func(int) string{g.text, g.number, g.boolean, g.list, g.context, g.leaf}[g.IntN(6)](depth)
}

func (g feelGenerator) leaf(int) string {
	return g.of("a", "n", "b", "l", "c", "x", "missing", "item", "key", "value", "null")
}

// kind returns one of some expressions of a type, or sometimes another one.
func (g feelGenerator) kind(depth int, leaves []string, deeper ...func() string) string {
	switch {
	case g.IntN(12) == 0:
		return g.leaf(0)
	case depth <= 0:
		return g.of(leaves...)
	case g.IntN(20) == 0:
		return "(" + g.any(depth-1) + ")"
	case g.IntN(20) == 0:
		return "(if " + g.boolean(depth-1) + " then " + g.any(depth-1) + " else " + g.any(depth-1) + ")"
	case g.IntN(20) == 0:
		return "get or else(" + g.any(depth-1) + ", " + g.any(depth-1) + ")"
	case g.IntN(20) == 0:
		return g.context(depth-1) + "." + g.of("a", "n", "c", "l", "key")
	}
	return deeper[g.IntN(len(deeper))]()
}

func (g feelGenerator) text(depth int) string {
	d := depth - 1
	leaves := []string{
		`a`, `""`, `"x"`, `"text"`, `" \t\n"`, `"\S\\\"'"`, `"ação 😀"`, `"1.20"`, `"7"`, `"PT5M"`,
	}
	return g.kind(depth, leaves,
		func() string { return g.text(d) + g.of(" + ", "+") + g.text(d) },
		func() string { return "string(" + g.any(d) + ")" },
		func() string { return "string(" + g.temporal() + ")" },
		func() string { return g.of("upper case(", "lower case(") + g.text(d) + ")" },
		func() string { return "substring(" + g.text(d) + ", " + g.of("1", "-2", "2.7", g.number(d)) + ")" },
		func() string { return "substring(" + g.text(d) + ", 2, " + g.number(d) + ")" })
}

func (g feelGenerator) number(depth int) string {
	d := depth - 1
	return g.kind(depth, []string{`n`, `0`, `1`, `2`, `1.50`, `.25`, `100`, `0.1`, `1234567890`, `1.00`},
		func() string { return "(" + g.number(d) + g.of(" + ", "-", " * ") + g.number(d) + ")" },
		func() string { return g.number(d) + g.of(" + ", " - ", "*") + g.number(d) },
		func() string { return "-(" + g.number(d) + ")" },
		func() string { return g.of("string length(", "number(") + g.text(d) + ")" })
}

func (g feelGenerator) boolean(depth int) string {
	d := depth - 1
	return g.kind(depth, []string{`b`, `true`, `false`, `n > 1`, `a = "text"`},
		func() string { return "(" + g.boolean(d) + ")" + g.of(" and ", " or ") + "(" + g.boolean(d) + ")" },
		func() string { return g.boolean(d) + g.of(" and ", " or ") + g.boolean(d) },
		func() string {
			return "(" + g.number(d) + g.of(" < ", "<=", " > ", ">=", "=", " != ") + g.number(d) + ")"
		},
		func() string { return "(" + g.text(d) + g.of(" < ", "<=", " > ", ">=", "=", " != ") + g.text(d) + ")" },
		func() string { return "(" + g.list(d) + g.of(" = ", "!=") + g.list(d) + ")" },
		func() string { return "(" + g.any(d) + g.of(" = ", "!=") + g.any(d) + ")" },
		func() string { return "(" + g.context(d) + g.of(" = ", "!=", "<") + g.context(d) + ")" },
		func() string { return g.of("not(", "is defined(") + g.of(g.boolean(d), g.any(d)) + ")" },
		func() string { return "contains(" + g.text(d) + ", " + g.text(0) + ")" },
		func() string { return "list contains(" + g.list(d) + ", " + g.any(0) + ")" },
		func() string {
			return "matches(" + g.text(d) + ", " + g.of(`"\S"`, `"^[a-x]+"`, `"\d|t"`, `"a*\s"`) + ")"
		},
		func() string {
			return "(" + g.any(d) + " instance of " + g.of("string", "number", "boolean", "list", "context") + ")"
		},
		func() string {
			return "(" + g.any(d) + " in " + g.of(`("a", "b")`, `("")`, "(1, 2.50)", `(1, "a")`) + ")"
		})
}

func (g feelGenerator) list(depth int) string {
	d := depth - 1
	leaves := []string{`l`, `[]`, `[1, 2, 3]`, `["x", null, true]`, `[{n: 1}, {a: "x", n: 2}]`, `[[1], []]`}
	return g.kind(depth, leaves,
		func() string {
			return "[" + strings.Join([]string{g.any(d), g.any(d), g.any(d)}[:g.IntN(4)], ", ") + "]"
		},
		func() string { return "get entries(" + g.context(d) + ")" },
		func() string { return g.list(d) + "." + g.of("n", "a", "key") },
		func() string {
			return g.list(d) + "[" + g.of("item", "n", "value") + g.of(" = ", " < ", "!=") + g.any(d) + "]"
		},
		func() string {
			return g.list(d) + "[" + g.of("item = 1", "not(b)", "n = 1") + g.of("", " and ", " or ") + g.boolean(d) + "]"
		})
}

func (g feelGenerator) context(depth int) string {
	d := depth - 1
	return g.kind(depth, []string{`c`, `{}`, `{n: 1}`, `{a: "x"}`, `{a: "\S", n: null}`, `{key: "x", value: 1}`},
		func() string { return fmt.Sprintf("{a: %s, n: %s}", g.any(d), g.any(d)) },
		func() string {
			return fmt.Sprintf("{c: %s, /* last */ %s: %s}", g.any(d), g.of("n", `"x y"`), g.any(d))
		},
		func() string { return "context(" + g.list(d) + ")" },
		func() string { return "context([{key: " + g.text(d) + ", value: " + g.any(d) + "}])" },
		func() string {
			return "context(get entries(" + g.context(d) + ")[value" + g.of(" = ", "!=") + g.any(d) + "])"
		})
}
