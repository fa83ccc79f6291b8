package config

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/kelseyhightower/envconfig"

	"hospital.example/analyze-retry/internal/config/readfile"
	"hospital.example/analyze-retry/internal/text"
)

// Load reads the settings from the environment, and secrets from the files that NAME_FILE names. An empty
// variable counts as unset. Its error is of type [text.Findings], with all faults; what can be read without
// them is returned beside it. It is called once: in the end every setting is in the environment by its own
// name.
func Load() (Config, error) {
	l := newLoader()
	l.process(l.Config)
	l.Config.sources = l.sources
	if host, err := os.Hostname(); err == nil {
		l.WorkerName = strings.ReplaceAll(l.WorkerName, "<host>", host)
	}
	l.check()
	l.unknown()
	if l.faults != nil {
		return *l.Config, l.faults
	}
	return *l.Config, nil
}

// Part reads some of the settings only, whatever is wrong with the others. Its error is of type
// [text.Findings].
func Part[P People | Policies]() (part P, err error) {
	l := newLoader()
	l.process(&part)
	if l.faults != nil {
		return part, l.faults
	}
	return part, nil
}

// ForPeople returns the settings of what commands print. Where RETRY_LANG is unset and the locale is of any
// Portuguese, such as pt_BR.UTF-8, the language is that.
func ForPeople() (People, error) {
	people, err := Part[People]()
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG"))
	if os.Getenv("RETRY_LANG") == "" && strings.HasPrefix(locale, "pt") {
		people.Lang = text.Portuguese
	}
	return people, err
}

// loader brings the environment into the form that envconfig reads, and notes what is wrong with it.
type loader struct {
	*Config
	sources map[string]string
	faults  text.Findings
}

func newLoader() *loader { return &loader{Config: &Config{}, sources: map[string]string{}} }

// fault notes a fault of a setting; of several the first says enough.
func (l *loader) fault(name string, what, advice text.Message) {
	if !l.wrong(name) {
		l.faults = append(l.faults, text.Finding{
			Severity: text.Error,
			Check:    "settings",
			Subject:  text.Messagef("%s", name),
			What:     what,
			Advice:   advice,
		})
	}
}

// wrong reports whether a setting has a fault.
func (l *loader) wrong(name string) bool {
	return slices.ContainsFunc(l.faults, func(f text.Finding) bool { return f.Subject.String() == name })
}

// refuse notes that a setting does not hold what it may. Its value is shown where no password can be in it.
func (l *loader) refuse(name string) {
	for _, s := range l.Settings() {
		if s.Name != name {
			continue
		}
		value := os.Getenv(name)
		if s.secret || strings.ContainsAny(value, "@?#%") {
			value = mask
		}
		l.fault(name, text.Messagef("%.100q is not allowed", value),
			text.Messagef("allowed: %s", text.Message{Format: s.Want}))
	}
}

// find puts the value of a setting where envconfig reads it: that of its own name, else what the file holds
// that NAME_FILE names.
func (l *loader) find(s Setting) {
	value, source := os.Getenv(s.Name), "env"
	path := os.Getenv(s.Name + "_FILE")
	switch {
	case value != "":
	case s.secret && path != "":
		value, source = l.read(s.Name, path), "file"
	default:
		source = "default"
	}
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.TrimSpace(value) != value || strings.ContainsFunc(value, unprintable) {
		l.fault(s.Name, text.Messagef(
			"holds a character that cannot be printed, or begins or ends with white space"), text.Message{})
	}
	if value != "" && !meets(value, s.Want) {
		l.refuse(s.Name)
	}
	l.sources[s.Name] = source
	if value == "" || l.wrong(s.Name) {
		_ = os.Unsetenv(s.Name)
	} else {
		_ = os.Setenv(s.Name, value)
	}
}

// read reads a file with secrets. No fault has its path: that may be the secret, by mistake.
func (l *loader) read(name, path string) string {
	content, _, err := readfile.Read(path)
	if fault, is := errors.AsType[*fs.PathError](err); is {
		err = fault.Err
	} else if len(content) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		l.fault(name, text.Messagef("its file cannot be used: %s", err.Error()), text.Message{})
	}
	return strings.TrimRight(string(content), "\r\n")
}

// process fills a struct. envconfig stops at the first fault, so that is noted and its variable unset until
// no fault is left.
func (l *loader) process(spec any) {
	for _, s := range listOf(spec) {
		l.find(s)
	}
	for {
		reflect.ValueOf(spec).Elem().SetZero()
		fault, is := errors.AsType[*envconfig.ParseError](envconfig.Process("", spec))
		if !is {
			return
		}
		l.refuse(fault.KeyName)
		_ = os.Unsetenv(fault.KeyName)
	}
}

// unknown reports each name that begins with RETRY_ and is no setting, because a misspelt one would leave
// its default in place without a word.
func (l *loader) unknown() {
	var known []string
	for _, s := range l.Settings() {
		known = append(known, s.Name)
		if s.secret {
			known = append(known, s.Name+"_FILE")
		}
	}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" || !strings.HasPrefix(name, "RETRY_") || slices.Contains(known, name) {
			continue
		}
		var advice text.Message
		if meant := text.Nearest(name, known); meant != "" {
			advice = text.Messagef("did you mean %s?", meant)
		}
		l.fault(name, text.Messagef("is not a setting"), advice)
	}
}
