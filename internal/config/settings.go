package config

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"text/template"
	"time"
	"unicode/utf8"

	"github.com/kelseyhightower/envconfig"
)

// Setting is one setting as a person or a program is shown it.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"` // masked where it is secret
	// Source is env, file or default.
	Source string `json:"source"`

	want    string
	secret  bool // it can come from a file
	outside bool // the value that it was given is not what want says
}

// Settings lists the effective value of every setting, in order.
func (c *Config) Settings() []Setting {
	list := append(listOf(prefix, &c.Worker), listOf("", &c.Cluster)...)
	for i := range list {
		s := &list[i]
		s.Source = c.sources[s.Name]
		if s.Source == "default" && s.Value == "0" {
			s.Value = "" // an unset number
		}
	}
	return list
}

// listOf lists the settings of a struct as envconfig sees them.
func listOf(prefix string, spec any) (list []Setting) {
	add := func(name string, tags reflect.StructTag, field reflect.Value) string {
		s := Setting{Name: name, Value: fmt.Sprint(field.Interface()), want: tags.Get("want")}
		s.outside = os.Getenv(name) != "" && !meets(field.Interface(), s.want)
		_, s.secret = reflect.TypeAssert[fmt.Formatter](field) // [Secret] and [URL], which mask themselves
		list = append(list, s)
		return ""
	}
	each := template.New("").Funcs(template.FuncMap{"add": add})
	each = template.Must(each.Parse("{{range .}}{{add .Key .Tags .Field}}{{end}}"))
	if err := envconfig.Usaget(prefix, spec, io.Discard, each); err != nil {
		panic(err) // the structs are constant
	}
	return list
}

// Usage writes about all settings by a template as [envconfig.Usagef] takes it; {{.Tags.Get "want"}} is what
// one may hold.
func Usage(w io.Writer, format string) error {
	if err := envconfig.Usagef(prefix, &Worker{}, w, format); err != nil {
		return err
	}
	return envconfig.Usagef("", &Cluster{}, w, format)
}

// choice is a list of words, such as "debug, info, warn or error".
var choice = regexp.MustCompile(`^[\w-]+(?:, [\w-]+)* or [\w-]+$`)

// meets reports whether a value is what the tag want says: one of some words, "1s to 1h", "1 to 128
// characters". Any other text is for people.
func meets(value any, want string) bool {
	var n time.Duration // for a number and a length as well
	switch v := value.(type) {
	case string:
		if choice.MatchString(want) {
			return slices.Contains(regexp.MustCompile(`, | or `).Split(want, -1), v)
		}
		n = time.Duration(utf8.RuneCountInString(v))
	case Secret:
		n = time.Duration(len(v))
	case int:
		n = time.Duration(v)
	case time.Duration:
		n = v
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
