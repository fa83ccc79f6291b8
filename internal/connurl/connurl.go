// Package connurl reads the URLs that connections are configured by, in the one way that the worker's settings and the
// libraries behind them agree about.
package connurl

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// URL is a connection URL in its parts:
//
//	scheme://user:password@host:port,host:port/path?name=value&name=value
type URL struct {
	Scheme               string
	HasUser, HasPassword bool
	Hosts                []string // host or host:port; none where the authority names none
	Path                 string   // as written, with its /

	user, password, query string // as written
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

// UnclearError says why a text is no URL that can be read in one way only.
type UnclearError string

// Error returns the reason, which completes a sentence about the URL and repeats nothing of it.
func (e UnclearError) Error() string { return string(e) }

// Parse takes a connection URL apart. It refuses every text that two libraries could read differently. Its errors say
// why and repeat nothing of the text.
func Parse(text string) (URL, error) {
	scheme, rest, found := strings.Cut(text, "://")
	u := URL{Scheme: scheme}
	at := strings.Index(rest, "@")
	switch {
	case !found:
		return u, UnclearError("has no scheme://")
	case notInURL.MatchString(text):
		return u, UnclearError("holds a blank, or another character that no URL holds as it is")
	case strings.Contains(rest, "#"):
		return u, UnclearError("holds a #")
	case badEscape.MatchString(rest):
		return u, UnclearError("holds a % without two hexadecimal digits")
	case hiddenByte.MatchString(rest):
		return u, UnclearError("holds an encoded control character")
	case strings.Count(rest, "@") > 1:
		return u, UnclearError("holds more than one @")
	case at >= 0 && strings.ContainsAny(rest[:at], "/?[]"):
		return u, UnclearError("holds one of / ? [ ] before the @")
	}
	if at >= 0 {
		u.HasUser = true
		u.user, u.password, u.HasPassword = strings.Cut(rest[:at], ":")
		rest = rest[at+1:]
		if strings.Contains(u.password, ":") {
			return u, UnclearError("holds more than one : before the @")
		}
		if !credential.MatchString(u.user) || u.password != "" && !credential.MatchString(u.password) {
			return u, UnclearError("has no user before the @")
		}
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority = rest[:i]
	}
	u.Path, u.query, _ = strings.Cut(rest[len(authority):], "?")
	if authority != "" {
		u.Hosts = strings.Split(authority, ",")
	}
	if slices.ContainsFunc(u.Hosts, func(host string) bool { return !isHostPort(host) }) {
		return u, UnclearError("has a host or a port that is none")
	}
	if !pathText.MatchString(u.Path) || !queryText.MatchString(u.query) {
		return u, UnclearError("has a path or a query with a character that must be encoded")
	}
	return u, nil
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

// Login returns user and password, decoded.
func (u URL) Login() (user, password string) {
	user, _ = url.PathUnescape(u.user) // Parse has checked the escapes
	password, _ = url.PathUnescape(u.password)
	return user, password
}

// Parameters returns the names and values of the query, decoded, in their order.
func (u URL) Parameters() (list [][2]string, err error) {
	if u.query == "" {
		return nil, nil
	}
	for pair := range strings.SplitSeq(u.query, "&") {
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

// mask stands for what is secret.
const mask = "***"

// String returns the URL with *** in place of what is secret.
func (u URL) String() string {
	var b strings.Builder
	b.WriteString(u.Scheme + "://")
	switch {
	case u.HasPassword:
		b.WriteString(u.user + ":" + mask + "@")
	case u.HasUser:
		b.WriteString(u.user + "@")
	}
	b.WriteString(strings.Join(u.Hosts, ",") + u.Path)
	for i, pair := range strings.Split(u.query, "&") {
		name, _, found := strings.Cut(pair, "=")
		plain, err := url.PathUnescape(name)
		if found && (err != nil || strings.Contains(strings.ToLower(plain), "pass")) {
			pair = name + "=" + mask
		}
		if u.query != "" {
			b.WriteString([]string{"?", "&"}[min(i, 1)] + pair)
		}
	}
	return b.String()
}

// IsLoopback reports whether a host, a name or an address without a port, is this machine by its loopback interface: plaintext
// may go there, as nothing leaves the machine. Of names it knows only localhost: what any other one resolves to may change.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
