package config

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"hospital.example/analyze-retry/internal/connurl"
	"hospital.example/analyze-retry/internal/readfile"
)

// check reports what depends on more than one setting, or on the world. A setting with a fault gets no second
// one.
func (l *loader) check() {
	c := l.Config
	if host, err := os.Hostname(); err == nil {
		c.WorkerName = strings.ReplaceAll(c.WorkerName, "<host>", host)
	}
	l.checkHTTP(c.HTTP)
	l.checkDatabaseURL()
	l.checkAddress()
	l.checkAuthorizationURL()
	l.checkCredentials()
	l.checkKey("RETRY_HTTP_TLS_KEY_PATH", c.HTTP.TLSKeyPath)
	l.checkKey("ZEEBE_CLIENT_KEY_PATH", c.ZeebeClientKey)
}

// checkKey warns of a private key that is open to others.
func (l *loader) checkKey(name, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		l.warnExposed(name, path, info.Mode())
	}
}

// checkHTTP refuses to serve other hosts without a token or a certificate.
func (l *loader) checkHTTP(h HTTP) {
	const address, token = "RETRY_HTTP_ADDRESS", "RETRY_HTTP_TOKEN"
	const certificate, key = "RETRY_HTTP_TLS_CERTIFICATE_PATH", "RETRY_HTTP_TLS_KEY_PATH"
	tls := h.TLSCertificatePath + h.TLSKeyPath
	if tls != "" {
		if _, err := readfile.Pair(h.TLSCertificatePath, h.TLSKeyPath); err != nil {
			l.fault(certificate, "and %s are no certificate and its key: %v", key, err)
		}
	}
	host, _, err := net.SplitHostPort(h.Address)
	if err != nil {
		l.fault(address, "is %.100q; allowed: host:port or :port", h.Address)
	} else if !connurl.IsLoopback(host) && h.Token == "" && tls == "" && !l.wrong[token] {
		l.fault(address, "is %q, which other hosts can reach; set %s or %s%s, or serve TLS with %s and %s, "+
			"or use a loopback address such as 127.0.0.1:8080", h.Address, token, token, fileSuffix, certificate, key)
	}
}

// plainPath is a path that can be told from anything else that an address of a store can be.
var plainPath = regexp.MustCompile(`^\.?/[\w./-]+$|^[\w./-]+\.(?:db|sqlite)$`)

func (l *loader) checkDatabaseURL() {
	const name = "RETRY_DATABASE_URL"
	u, path := string(l.DatabaseURL), l.SQLitePath()
	switch dir := filepath.Dir(path); {
	case plainPath.MatchString(u) && l.sources[name] != "file": // a file of secrets may hold another one
		l.fault(name+":", "write sqlite://%s", u)
	case strings.HasPrefix(u, "postgres"):
		if _, err := connurl.Parse(u); err != nil { // which repeats nothing of it
			l.fault(name, "%v", err)
		}
	case path == "" || strings.ContainsAny(path, "@?#"):
		l.fault(name, "is not sqlite://PATH or postgres://USER:PASSWORD@HOST/DATABASE; a PATH holds no @, ? or #")
	default:
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			l.fault(name+":", "directory %s is not there", dir)
		}
	}
}

// checkAddress reports an address that is none. It is repeated only where no password can be in it.
func (l *loader) checkAddress() {
	shown := l.ZeebeAddress
	if strings.ContainsAny(shown, "@?#%") {
		shown = mask
	}
	if _, err := l.address(); err != nil {
		l.fault(clusterAddress, "is %.100q, which %v; allowed: host:port, "+
			"or a URL with grpc://, grpcs://, http:// or https://", shown, err)
	}
}

// checkAuthorizationURL repeats nothing of the URL: there may be a password anywhere in it.
func (l *loader) checkAuthorizationURL() {
	text := string(l.ZeebeAuthorizationURL)
	u, err := connurl.Parse(text)
	if text != "" && (err != nil || !httpURL.MatchString(text) || len(u.Hosts) != 1 || u.HasUser) {
		l.fault("ZEEBE_AUTHORIZATION_SERVER_URL", "is not an http or https URL of one host, without user and password")
	}
}

// checkCredentials reports credentials that are incomplete, of two kinds, or sent in plaintext.
func (l *loader) checkCredentials() {
	const user, id = "CAMUNDA_BASIC_AUTH_USERNAME", "ZEEBE_CLIENT_ID"
	var needed [][2]string
	why := "Basic authentication needs a user name and a password"
	switch l.AuthStrategy() {
	case AuthNone:
		return
	case AuthBasic:
		needed = [][2]string{
			{user, l.BasicUser},
			{"CAMUNDA_BASIC_AUTH_PASSWORD", string(l.BasicPassword)},
		}
	case AuthOIDC:
		why = "OAuth needs client id, secret, authorization server, and an audience or a scope"
		needed = [][2]string{
			{id, l.ZeebeClientID},
			{"ZEEBE_CLIENT_SECRET", string(l.ZeebeClientSecret)},
			{"ZEEBE_AUTHORIZATION_SERVER_URL", string(l.ZeebeAuthorizationURL)},
			{"ZEEBE_TOKEN_AUDIENCE", l.ZeebeTokenAudience + l.ZeebeTokenScope},
		}
	}
	for _, s := range needed {
		if s[1] == "" {
			l.fault(s[0], "is missing; %s", why)
		}
	}
	if l.BasicUser != "" && l.AuthStrategy() == AuthOIDC {
		l.fault(id, "is for OAuth, and %s for Basic authentication; remove one of the two", user)
	}
	if strings.Contains(l.BasicUser, ":") { // a password may follow it
		l.fault(user, "holds a colon")
	}
	l.checkPlaintext(clusterAddress, l.Address().String())
	l.checkPlaintext("ZEEBE_AUTHORIZATION_SERVER_URL", string(l.ZeebeAuthorizationURL))
}

// checkPlaintext refuses to send credentials in plaintext to another host, unless that is accepted.
func (l *loader) checkPlaintext(name, to string) {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "grpc" || connurl.IsLoopback(u.Hostname()) {
		return
	}
	if l.AllowInsecureToken {
		l.warn("RETRY_ALLOW_INSECURE_TOKEN is true: credentials are sent to %s in plaintext, and every host on the way can read them", u.Host)
		return
	}
	l.fault(name, "would send credentials in plaintext to %s; use TLS, or RETRY_ALLOW_INSECURE_TOKEN=true", u.Host)
}
