package config

import (
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// Setting is one setting as a person or a program is shown it.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"` // masked where it is secret
	// Source is env, file or default.
	Source string `json:"source"`
	// Default is its value where nothing is given, Want what it may hold, About what it is.
	Default string `json:"-"`
	Want    string `json:"-"`
	About   string `json:"-"`

	secret bool // it can come from a file
}

// Settings lists the effective value of every setting, in order.
func (c *Config) Settings() []Setting {
	list := listOf(c)
	for i := range list {
		s := &list[i]
		s.Source = c.sources[s.Name]
		if s.Source == "default" && s.Value == "0" {
			s.Value = "" // an unset number
		}
	}
	return list
}

// listOf lists the settings of a struct. envconfig's own lists are made by text/template, which alone would
// make the program a seventh larger: with it linked, no method is left out.
func listOf(spec any) (list []Setting) {
	for field, value := range reflect.ValueOf(spec).Elem().Fields() {
		if field.Anonymous {
			list = append(list, listOf(value.Addr().Interface())...)
		}
		name := field.Tag.Get("envconfig")
		if name == "" {
			continue
		}
		s := Setting{
			Name:    name,
			Value:   fmt.Sprint(value.Interface()),
			Default: field.Tag.Get("default"),
			Want:    field.Tag.Get("want"),
			About:   field.Tag.Get("desc"),
		}
		_, s.secret = reflect.TypeAssert[fmt.Formatter](value) // [Secret] and [URL], which mask themselves
		list = append(list, s)
	}
	return list
}

// meets reports whether a value is in the range that the tag want states, if it does: "1s to 1h", "1 to 128
// characters". Any other text is for people.
func meets(value, want string) bool {
	var least, most, unit string
	if found, _ := fmt.Sscanf(want, "%s to %s %s", &least, &most, &unit); found < 2 {
		return true
	}
	if unit == "characters" {
		value = strconv.Itoa(utf8.RuneCountInString(value))
	}
	n, err := amount(value)
	from, _ := amount(least) // a test sees that the tags are right
	to, _ := amount(most)
	return err == nil && from <= n && n <= to
}

// amount reads a number, or a length of time.
func amount(s string) (time.Duration, error) {
	if n, err := strconv.Atoi(s); err == nil {
		return time.Duration(n), nil
	}
	return time.ParseDuration(s)
}
