package config

import (
	"errors"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hospital.example/analyze-retry/internal/readfile"
)

// layers are where settings are looked up: the environment, and below it the variables of a credentials file.
type layers struct{ environment, credentials Environment }

// get returns a variable's value, empty if it is not set.
func (l layers) get(variable string) string {
	if text := l.environment[variable]; text != "" {
		return text
	}
	return l.credentials[variable]
}

// source returns which of the two sets a variable.
func (l layers) source(variable string) string {
	if l.environment[variable] != "" {
		return FromEnvironment
	}
	return FromCredentials
}

// where returns a variable's name for a fault that names two.
func (l layers) where(variable string) string {
	if l.credentials[variable] != "" && l.source(variable) == FromCredentials {
		return variable + " in the credentials file"
	}
	return variable
}

// chooseREST leaves the gRPC addresses of the credentials file out where the environment sets an address of REST alone. The file
// has addresses of both.
func (l layers) chooseREST() {
	if isSetIn(l.environment, restAddress) && !isSetIn(l.environment, anyAddress) && !isSetIn(l.environment, grpcAddress) {
		for variable := range l.credentials {
			if name := canonical(variable); name == anyAddress || name == grpcAddress {
				delete(l.credentials, variable)
			}
		}
	}
}

// isSetIn reports whether a setting is set by any of its names.
func isSetIn(e Environment, setting string) bool {
	for variable, text := range e {
		if text != "" && canonical(variable) == setting {
			return true
		}
	}
	return false
}

// LoadWithCredentials does what [Load] does, and takes what the environment leaves unset from a credentials file, as
// Camunda's console has it to download. An empty path stands for no file.
func LoadWithCredentials(e Environment, path string) (Config, error) {
	cfg := Config{origins: map[string]origin{}}
	f := newFaults()
	l := layers{environment: e, credentials: cfg.readCredentials(path, f)}
	l.chooseREST()
	for _, name := range slices.Sorted(maps.Keys(l.credentials)) {
		if other := e[name]; other != "" && other != l.credentials[name] {
			f.addOf(canonical(name), name, "has different values in the environment and in the credentials file; remove one of the two")
		}
	}
	into := reflect.ValueOf(&cfg).Elem()
	for _, field := range fields() {
		cfg.load(l, field, into.FieldByIndex(field.Index).Addr().Interface(), f)
	}
	if host, err := os.Hostname(); err == nil {
		cfg.WorkerName = strings.ReplaceAll(cfg.WorkerName, "<host>", host)
	}
	cfg.derive(f)
	cfg.check(f)
	f.texts = append(f.texts, e.unknownNames()...)
	if len(f.texts) > 0 {
		return Config{}, FaultsError(f.texts)
	}
	cfg.warnings = append(cfg.warnings, e.unreadNames()...)
	return cfg, nil
}

// canonical returns the setting that a variable belongs to, or the variable's own name if there is none.
func canonical(variable string) string {
	plain := strings.TrimSuffix(variable, fileSuffix)
	for _, field := range fields() {
		if name := field.Tag.Get("envconfig"); name == plain || slices.Contains(aliases(field), plain) {
			return name
		}
	}
	return variable
}

// CredentialsFlag is the flag of the commands that takes the credentials file's path.
const CredentialsFlag = "credentials"

// credentialsName is how faults and warnings name it.
const credentialsName = "--" + CredentialsFlag

// readCredentials reads a credentials file.
func (c *Config) readCredentials(path string, f *faults) Environment {
	if path == "" {
		return nil
	}
	content, mode, err := readfile.Read(path, largestSecret)
	if err != nil {
		f.add(credentialsName, "names a file that cannot be used: %v", withoutPath(err))
		return nil
	}
	c.warnExposed(credentialsName, path, mode)
	e := Environment{}
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		if err := e.addLine(strings.TrimSpace(line)); err != nil {
			f.addOf(credentialsName+strconv.Itoa(number), credentialsName, "line %d %v", number, err)
		}
	}
	if len(e) == 0 && len(f.texts) == 0 {
		f.add(credentialsName, "names a file without a single line such as export ZEEBE_CLIENT_ID='...'")
	}
	return e
}

// credentialLine matches a line of a credentials file. A shell would read each of these values as it is.
var credentialLine = regexp.MustCompile(`^(?:export[ \t]+)?((?:ZEEBE|CAMUNDA)_[A-Z0-9_]+)=(?:'([^']*)'|"([^"$\x60\\]*)"|([A-Za-z0-9_.,:/@%+=~-]*))$`)

// addLine adds a line of a credentials file, which is parsed, not run by a shell. Its errors repeat nothing of the line.
func (e Environment) addLine(line string) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	parts := credentialLine.FindStringSubmatch(line)
	if parts == nil || !printable(strings.Join(parts[1:], "")) {
		return errors.New("is not export NAME='value' with a name that begins with ZEEBE_ or CAMUNDA_")
	}
	name, text := parts[1], parts[2]+parts[3]+parts[4]
	if other, is := e[name]; is && other != text {
		return errors.New("sets " + name + " again, to another value")
	}
	e[name] = text
	return nil
}
