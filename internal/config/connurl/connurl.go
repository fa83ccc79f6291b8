// Package connurl reads the URLs and hosts that connections are configured by.
package connurl

import (
	"cmp"
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// errUnclear repeats nothing of the URL.
var errUnclear = errors.New("is not scheme://user:password@host:port/path?name=value; " +
	"in user and password write @ as %40, / as %2F, ? as %3F, # as %23, % as %25, a blank as %20")

// Parse reads a connection URL. It refuses an @ that can be one of the password: what is behind it would be
// taken for a host or a path, looked up and shown. Its error repeats nothing of the text.
func Parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || !strings.Contains(text, "://") {
		return nil, errUnclear
	}
	if at := strings.Count(text, "@"); at > 1 || at == 1 && u.User == nil {
		return nil, errUnclear
	}
	_, wrongQuery := url.ParseQuery(u.RawQuery)
	_, wrongPort := strconv.ParseUint(cmp.Or(u.Port(), "0"), 10, 16)
	if wrongQuery != nil || wrongPort != nil {
		return nil, errUnclear
	}
	return u, nil
}

// IsLoopback reports whether a host, a name or an address without a port, is this machine by its loopback
// interface: plaintext may go there, as nothing leaves the machine. Of names it knows only localhost: what
// any other one resolves to may change.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
