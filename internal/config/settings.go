package config

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"go.uber.org/zap/zapcore"
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

	secret  bool // it can come from a file
	outside bool // the value that it was given is not what Want says
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
		s.outside = os.Getenv(s.Name) != "" && !meets(value.Interface(), s.Want)
		_, s.secret = reflect.TypeAssert[fmt.Formatter](value) // [Secret] and [URL], which mask themselves
		list = append(list, s)
	}
	return list
}

// meets reports whether a value is what the tag want says: "1s to 1h", "1 to 128 characters". Any other text
// is for people.
func meets(value any, want string) bool {
	var n time.Duration // for a number and a length as well
	switch v := value.(type) {
	case string:
		n = time.Duration(utf8.RuneCountInString(v))
	case Secret:
		n = time.Duration(len(v))
	case int:
		n = time.Duration(v)
	case time.Duration:
		n = v
	case zapcore.Level:
		return v <= zapcore.ErrorLevel // above it no decision would leave a line
	}
	var least, most string
	if found, _ := fmt.Sscanf(want, "%s to %s", &least, &most); found < 2 {
		return true
	}
	return n >= bound(least) && n <= bound(most)
}

func bound(s string) time.Duration {
	if n, err := strconv.Atoi(s); err == nil {
		return time.Duration(n)
	}
	d, _ := time.ParseDuration(s) // a test sees that the tags are right
	return d
}
