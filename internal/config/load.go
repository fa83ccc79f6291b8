package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kelseyhightower/envconfig"

	"hospital.example/analyze-retry/internal/readfile"
	"hospital.example/analyze-retry/internal/text"
)

// Environment holds the variables of an environment by their names. An empty variable counts as unset, because that is what
// `NAME=${NAME}` in a compose file becomes when nobody set it.
type Environment map[string]string

// Process returns the environment of this process.
func Process() Environment { return NewEnvironment(os.Environ()) }

// NewEnvironment returns the environment of a list of NAME=VALUE, the form of [os.Environ]. The last value of a name counts.
func NewEnvironment(variables []string) Environment {
	e := Environment{}
	for _, entry := range variables {
		if name, value, _ := strings.Cut(entry, "="); name != "" { // Windows has entries such as =C:=C:\dir
			e[name] = value
		}
	}
	return e
}

// PoliciesFile returns the setting of the policies file alone, for commands that use no other setting.
func (e Environment) PoliciesFile() string { return e["RETRY_POLICIES_FILE"] }

// Language returns the language of texts that a command prints: RETRY_LANG, else that of the locale. Its error is the
// [FaultsError] of RETRY_LANG.
func (e Environment) Language() (text.Language, error) {
	const name = "RETRY_LANG"
	if s := e[name]; s != "" {
		language, err := text.ParseLanguage(s)
		if err != nil {
			f := newFaults()
			f.addValue(name, s)
			return "", FaultsError(f.texts)
		}
		return language, nil
	}
	return text.OfLocale(cmp.Or(e["LC_ALL"], e["LC_MESSAGES"], e["LANG"])), nil
}

// FaultsError is every fault of a configuration, one text for each.
type FaultsError []string

// Error lists the faults, one a line.
func (e FaultsError) Error() string { return strings.Join(e, "\n") }

// Load reads the settings from an environment, and secrets from the files that it names. Its error is a [FaultsError] with
// every fault there is, not only the first.
func Load(e Environment) (Config, error) { return LoadWithCredentials(e, "") }

// load fills one field from its variable or an alias, from the file that another variable names, or with its default.
func (c *Config) load(l layers, field reflect.StructField, into any, f *faults) {
	name := field.Tag.Get("envconfig")
	found := c.find(l, field, f)
	if f.seen[name] {
		return
	}
	s := field.Tag.Get("default")
	if len(found) > 0 {
		s, c.origins[name] = found[0].text, found[0].origin
		f.variables[name] = found[0].variable
	}
	for _, other := range found {
		if other.text != s {
			f.addOf(name, l.where(found[0].variable), "and %s have different values; remove one of the two", l.where(other.variable))
			return
		}
	}
	if strings.TrimSpace(s) != s {
		f.add(name, "has white space around its value; take it away")
	} else if err := decode(s, into); err != nil {
		f.addValue(name, s)
	}
}

// value is what a variable sets.
type value struct {
	text string
	origin
}

// find returns what is set by the names of a setting, the canonical name first.
func (c *Config) find(l layers, field reflect.StructField, f *faults) (found []value) {
	name := field.Tag.Get("envconfig")
	for _, variable := range append([]string{name}, aliases(field)...) {
		s, path := l.get(variable), ""
		if fileVariable(field) != "" {
			path = l.get(variable + fileSuffix)
		}
		switch {
		case s != "" && path != "":
			f.addOf(name, l.where(variable), "and %s are both set; remove one of the two", l.where(variable+fileSuffix))
		case path != "":
			variable += fileSuffix
			content, mode, err := readSecret(path)
			if err != nil {
				f.addOf(name, variable, "names a file that cannot be used: %v", err)
				continue
			}
			found = append(found, value{content, origin{FromFile, variable}})
			c.warnExposed(variable, path, mode)
		case s != "":
			found = append(found, value{s, origin{l.source(variable), variable}})
		}
	}
	return found
}

// decode reads the text of a setting into its field. Only texts have no default, so that no other type gets an empty one.
func decode(s string, into any) (err error) {
	switch into := into.(type) {
	case envconfig.Decoder:
		return into.Decode(s)
	case *string:
		*into = s
	case *Secret:
		*into = Secret(s)
	case *URL:
		*into = URL(s)
	case *bool:
		*into, err = strconv.ParseBool(s)
	case *int:
		*into, err = strconv.Atoi(s)
	case *time.Duration:
		*into, err = time.ParseDuration(s)
	default:
		panic(fmt.Sprintf("a setting of type %T", into))
	}
	return err
}

// fields are the settings among the fields of Config, in order.
func fields() []reflect.StructField {
	all := reflect.VisibleFields(reflect.TypeFor[Config]())
	return slices.DeleteFunc(all, func(f reflect.StructField) bool { return !f.IsExported() })
}

// faults collects fault texts, at most one for each setting: the first says enough.
type faults struct {
	texts     []string
	seen      map[string]bool
	variables map[string]string // by which of its names a setting is set
}

func newFaults() *faults { return &faults{seen: map[string]bool{}, variables: map[string]string{}} }

// add reports a fault of a setting, under the name by which it is set.
func (f *faults) add(name, format string, args ...any) {
	f.addOf(name, cmp.Or(f.variables[name], name), format, args...)
}

// addOf reports a fault of a setting that shows in another variable.
func (f *faults) addOf(name, variable, format string, args ...any) {
	if f.seen[name] {
		return
	}
	f.seen[name] = true
	f.texts = append(f.texts, variable+" "+fmt.Sprintf(format, args...))
}

// addValue reports a value that is not among those that its setting allows.
func (f *faults) addValue(name, value string) {
	f.add(name, "is %q; allowed: %s", shortened(value), allowed(name))
}

// shortened returns a value as long as a fault may repeat it.
func shortened(value string) string {
	const longest = 100
	if len(value) > longest {
		value = strings.ToValidUTF8(value[:longest], "") + "..."
	}
	return value
}

// require reports a value unless it is allowed.
func (f *faults) require(ok bool, name string, value any) {
	if !ok {
		f.addValue(name, fmt.Sprint(value))
	}
}

// allowed returns what a setting may hold.
func allowed(name string) string {
	for _, field := range fields() {
		if field.Tag.Get("envconfig") == name {
			return field.Tag.Get("allowed")
		}
	}
	return ""
}

// largestSecret is far above a URL or a secret, in bytes; a larger file is another one than was meant.
const largestSecret = 64 << 10

// fileVariable returns the variable that names a file with the value of a setting: NAME_FILE for those that hold a secret, ""
// for the others.
func fileVariable(field reflect.StructField) string {
	if field.Type == reflect.TypeFor[Secret]() || field.Type == reflect.TypeFor[URL]() {
		return field.Tag.Get("envconfig") + fileSuffix
	}
	return ""
}

// fileSuffix is what the name of a variable ends in that holds a file's path.
const fileSuffix = "_FILE"

// aliases returns the other names of a setting.
func aliases(field reflect.StructField) []string { return strings.Fields(field.Tag.Get("aliases")) }

// readSecret returns what a file holds, without the line break at its end, and its mode. Its errors name neither the path,
// which may be the secret itself by mistake, nor what the file holds.
func readSecret(path string) (string, fs.FileMode, error) {
	content, mode, err := readfile.Read(path, largestSecret)
	if err != nil {
		return "", 0, withoutPath(err)
	}
	s := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	switch {
	case s == "":
		return "", 0, errors.New("it is empty")
	case strings.ContainsAny(s, "\r\n\x00"):
		return "", 0, errors.New("it holds more than one line, or is no text")
	}
	return s, mode, nil
}

func withoutPath(err error) error {
	if fault, ok := errors.AsType[*fs.PathError](err); ok {
		return fault.Err
	}
	return err
}

// warnExposed warns of a file with a secret that others than its owner and group can read, or its group can change. It is
// no fault: the file may be on a mount whose modes cannot be changed here.
func (c *Config) warnExposed(what, path string, mode fs.FileMode) {
	if err := readfile.CheckMode(path, mode); err != nil {
		c.warnings = append(c.warnings, what+": "+err.Error())
	}
}

// warnExposedKey does so for the file of a key, if there is one.
func (c *Config) warnExposedKey(name, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		c.warnExposed(name, path, info.Mode())
	}
}
