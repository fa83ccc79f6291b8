package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kelseyhightower/envconfig"

	"hospital.example/analyze-retry/internal/readfile"
	"hospital.example/analyze-retry/internal/text"
)

// FaultsError is every fault of the settings, one text for each.
type FaultsError []string

// Error lists the faults, one a line.
func (e FaultsError) Error() string { return strings.Join(e, "\n") }

// Load reads the settings from the environment, what that leaves unset from a credentials file (none if its
// path is empty), and secrets from the files that NAME_FILE names. Its error is a [FaultsError] with all
// faults.
func Load(credentials string) (Config, error) {
	c := Config{sources: map[string]string{}}
	l := begin(&c)
	defer l.end()
	for _, alias := range slices.SortedFunc(maps.Keys(aliases), inOrder) {
		l.rename(alias, aliases[alias], "")
		l.rename(alias, aliases[alias], fileSuffix)
	}
	l.readFiles()
	l.readCredentials(credentials)
	l.process(prefix, &c.Worker)
	l.process("", &c.Cluster)
	l.check()
	l.unknown()
	if err := l.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// Part reads some of the settings only, whatever is wrong with the others. Its error is a [FaultsError].
func Part[P People | Policies]() (part P, err error) {
	l := begin(&Config{sources: map[string]string{}})
	defer l.end()
	l.process(prefix, &part)
	return part, l.err()
}

// ForPeople returns the settings of what commands print. Where RETRY_LANG is unset the language is that of
// the locale.
func ForPeople() (People, error) {
	people, err := Part[People]()
	if os.Getenv(prefix+"_LANG") == "" {
		people.Lang = text.OfLocale(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG")))
	}
	return people, err
}

// loader brings the environment into the form that envconfig reads, and puts it back in the end.
type loader struct {
	*Config
	faults FaultsError
	wrong  map[string]bool   // the settings with a fault: the first one says enough
	before map[string]string // the variables that were changed
}

// loading keeps two loaders from changing the environment at once.
var loading sync.Mutex

// emptySetting is a setting, or what was meant for one, without a value.
var emptySetting = regexp.MustCompile(`^((?:RETRY|ZEEBE|CAMUNDA)_.*)=$`)

// begin makes the loader of a configuration. A variable that is set but empty counts as unset: that is what
// NAME=${NAME} in a compose file becomes when nobody set it.
func begin(c *Config) *loader {
	loading.Lock()
	l := &loader{Config: c, wrong: map[string]bool{}, before: map[string]string{}}
	for _, entry := range os.Environ() {
		if empty := emptySetting.FindStringSubmatch(entry); empty != nil {
			l.set(empty[1], "")
		}
	}
	return l
}

func (l *loader) end() {
	for name, value := range l.before {
		_ = put(name, value) // it was there before
	}
	loading.Unlock()
}

func (l *loader) err() error {
	if len(l.faults) > 0 {
		return l.faults
	}
	return nil
}

// set gives a variable a value until the loader ends.
func (l *loader) set(name, value string) {
	if _, changed := l.before[name]; !changed {
		l.before[name] = os.Getenv(name)
	}
	if err := put(name, value); err != nil { // a file held what no variable can
		l.fault(name, "is no text")
	}
}

// put sets a variable, or takes it away if the value is empty.
func put(name, value string) error {
	if value == "" {
		return os.Unsetenv(name)
	}
	return os.Setenv(name, value)
}

// fault reports a fault of a setting.
func (l *loader) fault(name, format string, args ...any) {
	if !l.wrong[name] {
		l.faults = append(l.faults, name+" "+fmt.Sprintf(format, args...))
	}
	l.wrong[name] = true
}

func (l *loader) warn(format string, args ...any) {
	l.warnings = append(l.warnings, fmt.Sprintf(format, args...))
}

// rename gives a setting the value of its alias. Two values are a fault, except of addresses, of which one
// counts.
func (l *loader) rename(alias, name, suffix string) {
	switch value, other := address(alias, os.Getenv(alias+suffix)), os.Getenv(name+suffix); {
	case value == "" || value == other:
	case strings.Contains(alias, "_REST") && !httpURL.MatchString(value):
		l.fault(alias, "does not begin with http:// or https://")
	case other == "":
		l.set(name+suffix, value)
	case name != clusterAddress:
		l.fault(name, "and %s have different values; remove one of the two", alias+suffix)
	case grpcURL.ReplaceAllString(value, "") != grpcURL.ReplaceAllString(other, ""):
		l.warn("%s is not used, as another address is set too", alias)
	}
}

// inOrder compares names by what follows ZEEBE_ or CAMUNDA_. Of several addresses the first counts: ADDRESS,
// then GRPC_ADDRESS, then REST_ADDRESS.
func inOrder(a, b string) int {
	return cmp.Compare(a[strings.Index(a, "_"):]+a, b[strings.Index(b, "_"):]+b)
}

var httpURL, grpcURL = regexp.MustCompile(`^http(s?://)`), regexp.MustCompile(`^grpcs?://`)

// address returns an address as ZEEBE_ADDRESS has it: in the aliases for gRPC, http and https mean gRPC too.
func address(alias, value string) string {
	if strings.Contains(alias, "GRPC") {
		return httpURL.ReplaceAllString(value, "grpc$1")
	}
	return value
}

// fileSuffix is how the variable ends that names the file of a secret.
const fileSuffix = "_FILE"

// largestSecret is far above a URL or a secret, in bytes; a larger file is another one than was meant.
const largestSecret = 64 << 10

// readFiles reads each secret whose NAME_FILE is set. No fault holds the path: it may be the secret, by
// mistake.
func (l *loader) readFiles() {
	for _, s := range l.Settings() {
		file := s.Name + fileSuffix
		path := os.Getenv(file)
		if !s.secret || path == "" {
			continue
		}
		if os.Getenv(s.Name) != "" {
			l.fault(s.Name, "and %s are both set; remove one of the two", file)
		} else if content, ok := l.read(file, path); ok {
			l.sources[s.Name] = "file"
			l.set(s.Name, strings.TrimSuffix(strings.TrimSuffix(content, "\n"), "\r"))
		}
		l.wrong[s.Name] = l.wrong[s.Name] || l.wrong[file]
		l.set(file, "")
	}
}

// read reads a file with secrets, and warns of one that is open to others: it may be on a mount whose modes
// cannot be changed.
func (l *loader) read(what, path string) (content string, ok bool) {
	b, mode, err := readfile.Read(path, largestSecret)
	if fault, is := errors.AsType[*fs.PathError](err); is {
		err = fault.Err
	} else if len(b) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		l.fault(what, "names a file that cannot be used: %v", err)
	} else {
		l.warnExposed(what, path, mode)
	}
	return string(b), err == nil
}

func (l *loader) warnExposed(what, path string, mode fs.FileMode) {
	if readfile.Exposed(mode) {
		l.warn("%s: the file has mode %04o, so that not only its owner and group can read it, "+
			"or its group can change it; run: chmod g-w,o= %s", what, mode.Perm(), path)
	}
}

// CredentialsFlag is the flag of the commands that takes the credentials file's path.
const CredentialsFlag = "credentials"

// credentialLine is a line of a credentials file. A shell would read each of these values as it is.
var credentialLine = regexp.MustCompile(`(?m)^[ \t]*(?:export[ \t]+)?((?:ZEEBE|CAMUNDA)_[A-Z0-9_]+)=` +
	`(?:'([^'\n]*)'|"([^"$\x60\\\n]*)"|([^\s'"$\x60\\]*))[ \t\r]*$`)

// readCredentials sets what the environment leaves unset from a file as Camunda's console has it to download.
// No shell runs it.
func (l *loader) readCredentials(path string) {
	const flag = "--" + CredentialsFlag
	if path == "" {
		return
	}
	content, ok := l.read(flag, path)
	lines := credentialLine.FindAllStringSubmatch(content, -1)
	if ok && lines == nil {
		l.fault(flag, "names a file without a line such as export ZEEBE_CLIENT_ID='...'")
	}
	slices.SortStableFunc(lines, func(a, b []string) int { return inOrder(a[1], b[1]) })
	for _, parts := range lines {
		name := cmp.Or(aliases[parts[1]], parts[1])
		if os.Getenv(name) == "" {
			l.set(name, address(parts[1], parts[2]+parts[3]+parts[4]))
			l.sources[name] = "file"
		}
	}
}

// process fills a struct until no fault is left: envconfig stops at the first, which is then noted and its
// variable unset.
func (l *loader) process(prefix string, spec any) {
	wants := map[string]string{}
	for _, s := range listOf(prefix, spec) {
		wants[s.Name] = s.want
		value := os.Getenv(s.Name)
		if value != "" {
			l.sources[s.Name] = cmp.Or(l.sources[s.Name], "env")
		}
		if strings.TrimSpace(value) != value || strings.ContainsFunc(value, unprintable) {
			l.fault(s.Name, "holds a character that cannot be printed, or begins or ends with white space")
		}
		if l.wrong[s.Name] {
			l.set(s.Name, "")
		}
	}
	for {
		fault, is := errors.AsType[*envconfig.ParseError](envconfig.Process(prefix, spec))
		if !is {
			break
		}
		l.fault(fault.KeyName, "is %.100q; allowed: %s", fault.Value, wants[fault.KeyName])
		l.set(fault.KeyName, "")
	}
	for _, s := range listOf(prefix, spec) {
		if os.Getenv(s.Name) != "" && !s.meets {
			l.fault(s.Name, "is %.100q; allowed: %s", s.Value, s.want)
			l.set(s.Name, "")
		}
	}
	reflect.ValueOf(spec).Elem().SetZero() // without what was wrong
	_ = envconfig.Process(prefix, spec)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

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

// unknown reports each name that begins with RETRY_ and is no setting, because a misspelt one would leave its
// default in place without a word.
func (l *loader) unknown() {
	var known, found []string
	for _, s := range l.Settings() {
		known = append(known, s.Name)
		if s.secret {
			known = append(known, s.Name+fileSuffix)
		}
	}
	for {
		err := envconfig.CheckDisallowed(prefix, &Worker{})
		if err == nil {
			break
		}
		name := strings.TrimPrefix(err.Error(), "unknown environment variable ")
		fault := name + " is not a setting"
		closest := text.Nearest(name, known)
		if own := strings.TrimPrefix(name, prefix+"_"); slices.Contains(known, own) {
			closest = own
		}
		if closest != "" {
			fault += "; did you mean " + closest + "?"
		}
		found = append(found, fault)
		l.set(name, "")
	}
	slices.Sort(found)
	l.faults = append(l.faults, found...)
}
