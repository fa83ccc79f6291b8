package config

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/config/connurl"
	"hospital.example/analyze-retry/internal/text"
)

// check reports what depends on more than one setting, or on the world.
func (l *loader) check() {
	if l.LogLevel > zapcore.ErrorLevel { // no decision would leave a line
		l.refuse("RETRY_LOG_LEVEL")
	}
	l.checkHTTP()
	l.checkDatabaseURL()
	l.checkCredentials()
}

// checkHTTP refuses to serve other hosts without a token.
func (l *loader) checkHTTP() {
	const address, token = "RETRY_HTTP_ADDRESS", "RETRY_HTTP_TOKEN"
	u, err := connurl.Parse("http://" + l.HTTPAddress)
	if err != nil || u.Port() == "" || u.Host != l.HTTPAddress {
		l.refuse(address)
	} else if !connurl.IsLoopback(u.Hostname()) && l.HTTPToken == "" && !l.wrong(token) {
		l.fault(address, text.Messagef("other hosts can reach %s", l.HTTPAddress),
			text.Messagef("set %s, or use a loopback address such as 127.0.0.1:8080", token))
	}
}

func (l *loader) checkDatabaseURL() {
	const name = "RETRY_DATABASE_URL"
	switch u, path := string(l.DatabaseURL), l.SQLitePath(); {
	case strings.HasPrefix(u, "postgres"):
		if _, err := connurl.Parse(u); err != nil { // which repeats nothing of it
			l.fault(name, text.Messagef("%s", err.Error()), text.Message{})
		}
	case path == "" || strings.ContainsAny(path, "@?#"):
		l.refuse(name)
	default:
		dir := filepath.Dir(path)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			l.fault(name, text.Messagef("directory %s is not there", dir), text.Message{})
		}
	}
}

// checkCredentials reports addresses that are none, and credentials that are incomplete or sent in plaintext.
func (l *loader) checkCredentials() {
	const address, server = "ZEEBE_ADDRESS", "ZEEBE_AUTHORIZATION_SERVER_URL"
	const user = "CAMUNDA_BASIC_AUTH_USERNAME"
	needed := map[AuthStrategy][]string{
		AuthBasic: {user, "CAMUNDA_BASIC_AUTH_PASSWORD"},
		AuthOIDC:  {"ZEEBE_CLIENT_ID", "ZEEBE_CLIENT_SECRET", server},
	}[l.AuthStrategy()]
	for _, s := range l.Settings() {
		if s.Value == "" && slices.Contains(needed, s.Name) {
			l.fault(s.Name, text.Messagef("is missing: %s "+
				"needs %s", l.AuthStrategy(), strings.Join(needed, ", ")),
				text.Message{})
		}
	}
	if strings.Contains(l.BasicUser, ":") { // a password may follow it
		l.fault(user, text.Messagef("holds a colon"), text.Message{})
	}
	if to := l.Address(); to.Host == "" {
		l.refuse(address)
	} else if needed != nil {
		l.checkPlaintext(address, to.URL)
	}
	if l.ZeebeAuthorizationURL != "" {
		u, err := connurl.Parse(string(l.ZeebeAuthorizationURL))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !ofOneHost(u) {
			l.refuse(server)
		} else {
			l.checkPlaintext(server, u)
		}
	}
}

// checkPlaintext refuses to send credentials in plaintext to another host, unless that is accepted.
func (l *loader) checkPlaintext(name string, to *url.URL) {
	if (Address{to}).Plaintext() && !connurl.IsLoopback(to.Hostname()) && !l.AllowInsecureToken {
		const allow = "RETRY_ALLOW_INSECURE_TOKEN=true"
		l.fault(name, text.Messagef("credentials would go in plaintext to %s", to.Host),
			text.Messagef("use TLS, or %s", allow))
	}
}
