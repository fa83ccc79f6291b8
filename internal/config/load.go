package config

import (
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/kelseyhightower/envconfig"
)

// FaultsError is every fault of a configuration, one text for each.
type FaultsError []string

// Error lists the faults, one a line.
func (e FaultsError) Error() string { return strings.Join(e, "\n") }

// Load reads the environment, and the files that it names for secrets. Its error is a [FaultsError] with every fault there
// is, not only the first.
//
// A variable that is set but empty counts as unset, because that is what `NAME=${NAME}` in a compose file becomes when
// nobody set it. Load removes such a variable from the process's environment: envconfig would take it as a value.
func Load() (Config, error) {
	cfg := Config{sources: map[string]string{}}
	faults := faults{seen: map[string]bool{}}
	value := reflect.ValueOf(&cfg).Elem()
	for _, field := range fields() {
		if err := cfg.load(field, value.FieldByIndex(field.Index), &faults); err != nil {
			return Config{}, err
		}
	}
	if host, err := os.Hostname(); err == nil {
		cfg.WorkerName = strings.ReplaceAll(cfg.WorkerName, "<host>", host)
	}
	cfg.check(&faults)
	faults.texts = append(faults.texts, foreignNames()...)
	if len(faults.texts) > 0 {
		return Config{}, FaultsError(faults.texts)
	}
	if cfg.SQLitePath() == "" {
		more, err := dropPostgresNames()
		if err != nil {
			return Config{}, err
		}
		cfg.warnings = append(cfg.warnings, more...)
	}
	cfg.warnings = append(cfg.warnings, warnings()...)
	return cfg, nil
}

// load fills one field, from its variable or from the file that its other variable names.
func (c *Config) load(field reflect.StructField, into reflect.Value, f *faults) error {
	name := field.Tag.Get("envconfig")
	text, set := os.LookupEnv(name)
	if set && text == "" {
		if err := os.Unsetenv(name); err != nil {
			return fmt.Errorf("unset the empty %s: %w", name, err)
		}
	}
	if text != "" {
		c.sources[name] = FromEnvironment
	}
	fromFile := fileVariable(field)
	if path := os.Getenv(fromFile); fromFile != "" && path != "" {
		if text != "" {
			f.add(name, "and %s are both set; remove one of the two", fromFile)
			return nil
		}
		var mode fs.FileMode
		var err error
		if text, mode, err = readSecret(path); err != nil {
			f.addOf(name, fromFile, "names a file that cannot be used: %v", err)
			return nil
		}
		c.sources[name] = FromFile
		c.warnExposed(fromFile, path, mode)
	}
	switch {
	case strings.TrimSpace(text) != text:
		f.add(name, "has white space around its value; take it away")
	case c.sources[name] == FromFile:
		into.SetString(text) // past the environment, which child processes and /proc show
	default:
		if err := process(field, into); err != nil {
			f.addValue(name, text)
		}
	}
	return nil
}

// PoliciesFile is the setting of the policies file by itself, for what asks no other setting and minds no fault of one.
func PoliciesFile() string { return os.Getenv("RETRY_POLICIES_FILE") }

// process lets envconfig fill one field. It gets a struct of that field alone, since it stops at its first fault.
func process(field reflect.StructField, into reflect.Value) error {
	one := reflect.New(reflect.StructOf([]reflect.StructField{{Name: field.Name, Type: field.Type, Tag: field.Tag}}))
	if err := envconfig.Process("", one.Interface()); err != nil {
		return err
	}
	into.Set(one.Elem().Field(0))
	return nil
}

// fields are the settings among the fields of Config, in order.
func fields() []reflect.StructField {
	all := reflect.VisibleFields(reflect.TypeFor[Config]())
	return slices.DeleteFunc(all, func(f reflect.StructField) bool { return !f.IsExported() })
}

// faults collects fault texts, at most one for each variable: the first says enough.
type faults struct {
	texts []string
	seen  map[string]bool
}

func (f *faults) add(name, format string, args ...any) { f.addOf(name, name, format, args...) }

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
	const longest = 100
	if len(value) > longest {
		value = strings.ToValidUTF8(value[:longest], "") + "..."
	}
	f.add(name, "is %q; allowed: %s", value, allowed(name))
}

// allowed is what a setting may hold.
func allowed(name string) string {
	for _, field := range fields() {
		if field.Tag.Get("envconfig") == name {
			return field.Tag.Get("allowed")
		}
	}
	return ""
}
