// Package connurl reads the URLs that connections are configured by, in the one way that the libraries behind
// them agree about.
package connurl

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// URL is a connection URL in its parts:
//
//	scheme://user:password@host:port,host:port/path?name=value&name=value
type URL struct {
	Scheme  string
	HasUser bool
	Hosts   []string // host or host:port; none where the authority names none
	Path    string   // as written, with its /

	user, colon, password, query string // as written
}

// form is every URL that all libraries read alike. They disagree about all other characters: which @ ends a
// password, whether a / or ? before it ends the authority, what a second : is. So those must be
// percent-encoded.
var form = regexp.MustCompile(`^([a-z][a-z+]*)://(?:(` + plain + `+)(?:(:)(` + plain + `*))?@)?` +
	`(` + host + `(?:,` + host + `)*)?(/` + inPath + `*)?(?:\?(` + pair + `(?:&` + pair + `)*))?$`)

// An encoded control character is left out of escape: nobody means one.
const (
	escape = `%(?:[2-689A-Fa-f][0-9A-Fa-f]|7[0-9A-Ea-e])`
	plain  = `(?:[A-Za-z0-9._~!$&'()*+,;=-]|` + escape + `)`
	inPath = `(?:[A-Za-z0-9._~!$&'()*+,;=:/-]|` + escape + `)`
	pair   = `[A-Za-z0-9._-]+=(?:[A-Za-z0-9._~!$'()*,:/-]|` + escape + `)*`
	host   = `(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_.])?|\[[0-9A-Fa-f:.]+\])(?::[1-9][0-9]{0,4})?`
)

// errUnclear repeats nothing of the URL.
var errUnclear = errors.New("is not scheme://user:password@host:port/path?name=value, or can be read in two " +
	"ways; in user and password write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23, % as %25, [ as %5B, " +
	"] as %5D, a blank as %20")

// Parse takes a connection URL apart. It refuses every text that two libraries could read differently. Its
// error repeats nothing of the text.
func Parse(text string) (URL, error) {
	p := form.FindStringSubmatch(text)
	if p == nil {
		return URL{}, errUnclear
	}
	u := URL{Scheme: p[1], HasUser: p[2] != "", user: p[2], colon: p[3], password: p[4], Path: p[6], query: p[7]}
	if p[5] != "" {
		u.Hosts = strings.Split(p[5], ",")
	}
	return u, nil
}

// Login returns user and password, decoded.
func (u URL) Login() (user, password string) {
	user, _ = url.PathUnescape(u.user) // Parse has checked the escapes
	password, _ = url.PathUnescape(u.password)
	return user, password
}

// Query returns the parameters, decoded; nil for none.
func (u URL) Query() url.Values {
	if u.query == "" {
		return nil
	}
	values, _ := url.ParseQuery(u.query) // Parse has checked it
	return values
}

// secretParameter is a parameter with a password.
var secretParameter = regexp.MustCompile(`(?i)([^&=]*pass[^&=]*=)[^&]*`)

// String returns the URL with *** in place of what is secret.
func (u URL) String() string {
	s := u.Scheme + "://" + u.user
	if u.colon != "" {
		s += ":***"
	}
	if u.HasUser {
		s += "@"
	}
	s += strings.Join(u.Hosts, ",") + u.Path
	if u.query != "" {
		s += "?" + secretParameter.ReplaceAllString(u.query, "$1***")
	}
	return s
}

// IsLoopback reports whether a host, a name or an address without a port, is this machine by its loopback
// interface: plaintext may go there, as nothing leaves the machine. Of names it knows only localhost: what
// any other one resolves to may change.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
