package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// connection is a connection URL in its parts, as written:
//
//	scheme://user:password@host:port,host:port/path?name=value&name=value
type connection struct {
	scheme, user         string
	hasUser, hasPassword bool
	hosts                []string // host or host:port; none where the authority names none
	path, query          string   // the path with its /
}

// The parts of a URL that every library reads the same way. All other characters are percent-encoded. Libraries disagree
// about them: about which @ ends a password, whether a / or ? before it ends the authority, what a second : is.
var (
	notInURL   = regexp.MustCompile("[^!-~]|[\"<>\\\\^`{|}]")
	badEscape  = regexp.MustCompile(`%(?:$|[^0-9A-Fa-f]|[0-9A-Fa-f](?:$|[^0-9A-Fa-f]))`)
	hiddenByte = regexp.MustCompile(`%(?:[01][0-9A-Fa-f]|7[Ff])`)
	credential = regexp.MustCompile(`^[A-Za-z0-9._~!$&'()*+,;=%-]+$`)
	hostName   = regexp.MustCompile(`^[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_.])?$`)
	pathText   = regexp.MustCompile(`^[A-Za-z0-9._~!$&'()*+,;=%:/-]*$`)
	queryText  = regexp.MustCompile(`^[A-Za-z0-9._~!$'()*+,=%:/&-]*$`)
)

// unclearError says why a text is no URL that can be read in one way only.
type unclearError string

func (e unclearError) Error() string { return string(e) }

// splitURL takes a connection URL apart. It refuses every text that two libraries could read differently. Its errors say
// why and repeat nothing of the text.
func splitURL(text string) (connection, error) {
	scheme, rest, found := strings.Cut(text, "://")
	c := connection{scheme: scheme}
	at := strings.Index(rest, "@")
	switch {
	case !found:
		return c, unclearError("has no scheme://")
	case notInURL.MatchString(text):
		return c, unclearError("holds a blank, or another character that no URL holds as it is")
	case strings.Contains(rest, "#"):
		return c, unclearError("holds a #")
	case badEscape.MatchString(rest):
		return c, unclearError("holds a % without two hexadecimal digits")
	case hiddenByte.MatchString(rest):
		return c, unclearError("holds an encoded control character")
	case strings.Count(rest, "@") > 1:
		return c, unclearError("holds more than one @")
	case at >= 0 && strings.ContainsAny(rest[:at], "/?[]"):
		return c, unclearError("holds one of / ? [ ] before the @")
	}
	if at >= 0 {
		c.hasUser = true
		var password string
		c.user, password, c.hasPassword = strings.Cut(rest[:at], ":")
		rest = rest[at+1:]
		if strings.Contains(password, ":") {
			return c, unclearError("holds more than one : before the @")
		}
		if !credential.MatchString(c.user) || password != "" && !credential.MatchString(password) {
			return c, unclearError("has no user before the @")
		}
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority = rest[:i]
	}
	c.path, c.query, _ = strings.Cut(rest[len(authority):], "?")
	if authority != "" {
		c.hosts = strings.Split(authority, ",")
	}
	if slices.ContainsFunc(c.hosts, func(host string) bool { return !isHostPort(host) }) {
		return c, unclearError("has a host or a port that is none")
	}
	if !pathText.MatchString(c.path) || !queryText.MatchString(c.query) {
		return c, unclearError("has a path or a query with a character that must be encoded")
	}
	return c, nil
}

// isHostPort reports whether the text is a name or an address with or without a port, 1 to 65535.
func isHostPort(text string) bool {
	host, port, hasPort := strings.Cut(text, ":")
	if end := strings.LastIndex(text, "]"); strings.HasPrefix(text, "[") && end > 0 {
		address, err := netip.ParseAddr(text[1:end])
		if err != nil || !address.Is6() || address.Zone() != "" {
			return false
		}
		if port, hasPort = strings.CutPrefix(text[end+1:], ":"); !hasPort && port != "" {
			return false
		}
	} else if !hostName.MatchString(host) {
		return false
	}
	number, err := strconv.ParseUint(port, 10, 16)
	return !hasPort || err == nil && number > 0
}

// parameters are the names and values of the query, decoded, in their order.
func (c connection) parameters() (list [][2]string, err error) {
	if c.query == "" {
		return nil, nil
	}
	for pair := range strings.SplitSeq(c.query, "&") {
		name, value, found := strings.Cut(pair, "=")
		if !found || name == "" || strings.Contains(value, "=") {
			return nil, errors.New("has a query that is not name=value&name=value")
		}
		name, err1 := url.PathUnescape(name)
		value, err2 := url.PathUnescape(value)
		if err1 != nil || err2 != nil || slices.ContainsFunc(list, func(other [2]string) bool { return other[0] == name }) {
			return nil, errors.New("names a parameter more than once in its query")
		}
		list = append(list, [2]string{name, value})
	}
	return list, nil
}

// masked returns the URL with *** in place of what is secret.
func (c connection) masked() string {
	var b strings.Builder
	b.WriteString(c.scheme + "://")
	switch {
	case c.hasUser && (c.scheme == "nats" || c.scheme == "tls"):
		b.WriteString(mask + "@") // NATS takes a name without a password for a token; a : in it makes it two
	case c.hasPassword:
		b.WriteString(c.user + ":" + mask + "@")
	case c.hasUser:
		b.WriteString(c.user + "@")
	}
	b.WriteString(strings.Join(c.hosts, ",") + c.path)
	for i, pair := range strings.Split(c.query, "&") {
		name, _, found := strings.Cut(pair, "=")
		plain, err := url.PathUnescape(name)
		if found && (err != nil || strings.Contains(strings.ToLower(plain), "pass")) {
			pair = name + "=" + mask
		}
		if c.query != "" {
			b.WriteString([]string{"?", "&"}[min(i, 1)] + pair)
		}
	}
	return b.String()
}

// checkPostgres says what of a postgres URL its driver would take from elsewhere than the place where it is masked and
// read here. It returns the files that the URL names.
func (c connection) checkPostgres() (files []namedFile, err error) {
	parameters, err := c.parameters()
	if err != nil {
		return nil, err
	}
	socket := false
	for _, parameter := range parameters {
		name, value := parameter[0], parameter[1]
		switch strings.ToLower(name) {
		case "host":
			if len(c.hosts) > 0 || !strings.HasPrefix(value, "/") || strings.Contains(value, ",") {
				return nil, errors.New("names host in its query, which may be the directory of a socket and nothing else; write a host after the //")
			}
			socket = true
		case "port":
			if _, err := strconv.ParseUint(value, 10, 16); len(c.hosts) > 0 || err != nil {
				return nil, errors.New("names port in its query; write it behind the host")
			}
		case "user", "password", "passfile", "hostaddr", "dbname", "database", "service", "servicefile":
			return nil, fmt.Errorf("names %s in its query; write user, password, host and database before the ?, and nothing into other files", strings.ToLower(name))
		case "sslkey", "sslcert", "sslrootcert":
			if value != "" && value != "system" {
				files = append(files, namedFile{name, value})
			}
		}
	}
	switch {
	case len(c.hosts) == 0 && !socket:
		return nil, errors.New("names no host")
	case len(c.path) < 2:
		return nil, errors.New("names no database")
	}
	return files, nil
}

// namedFile is a file that a URL's parameter names.
type namedFile struct{ parameter, path string }

// addURL reports a URL that cannot be used, and repeats nothing of it but its scheme, which is one that is known.
func (f *faults) addURL(name, scheme string, err error) {
	text := fmt.Sprintf("is %s://%s, which %v; allowed: %s", scheme, mask, err, allowed(name))
	if _, is := errors.AsType[unclearError](err); is {
		text += "; in a user or password write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23, % as %25, [ as %5B, ] as %5D, a blank as %20"
	}
	f.add(name, "%s", text)
}
