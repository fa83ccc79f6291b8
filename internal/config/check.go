package config

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// check adds what a type cannot say: ranges, files, and settings that need or exclude each other. A variable that
// could not be read is not looked at again (its field is empty), because add keeps the first fault of a name.
func (c *Config) check(f *faults) {
	c.checkWorker(f)
	c.checkHTTP(f)
	c.checkStore(f)
	c.checkConnection(f)
	c.checkOAuth(f)
}

func (c *Config) checkWorker(f *faults) {
	if n := utf8.RuneCountInString(c.WorkerName); n < 1 || n > 300 || !printable(c.WorkerName) {
		f.addValue("RETRY_WORKER_NAME", c.WorkerName)
	}
	if c.MaxJobsActive < 1 || c.MaxJobsActive > 1000 {
		f.addValue("RETRY_MAX_JOBS_ACTIVE", strconv.Itoa(c.MaxJobsActive))
	}
	if c.JobTimeout < time.Second || c.JobTimeout > time.Hour {
		f.addValue("RETRY_JOB_TIMEOUT", c.JobTimeout.String())
	}
	if c.ShutdownTimeout < time.Second || c.ShutdownTimeout > 10*time.Minute {
		f.addValue("RETRY_SHUTDOWN_TIMEOUT", c.ShutdownTimeout.String())
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel) {
		f.addValue("RETRY_LOG_LEVEL", c.LogLevel)
	}
	if !slices.Contains([]string{"json", "console"}, c.LogFormat) {
		f.addValue("RETRY_LOG_FORMAT", c.LogFormat)
	}
}

// shortestToken is the length below which a token could be guessed.
const shortestToken = 16

// checkHTTP sees to it that nothing is shown to other hosts that was not meant for them.
func (c *Config) checkHTTP(f *faults) {
	const certificate, key = "RETRY_HTTP_TLS_CERTIFICATE_PATH", "RETRY_HTTP_TLS_KEY_PATH"
	token := string(c.HTTPToken)
	if token != "" && (len(token) < shortestToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })) {
		f.add("RETRY_HTTP_TOKEN", "is too short, or no text for a header; allowed: %s (openssl rand -hex 32)", allowed("RETRY_HTTP_TOKEN"))
	}
	f.checkPair(certificate, c.HTTPCertificate, key, c.HTTPKey)
	if c.HTTPCertificate != "" && c.HTTPKey != "" {
		f.checkFile(certificate, c.HTTPCertificate)
		f.checkFile(key, c.HTTPKey)
		if _, err := tls.LoadX509KeyPair(c.HTTPCertificate, c.HTTPKey); err != nil && !f.seen[key] {
			f.add(certificate, "and %s are no certificate and its key: %v", key, err)
		}
	}
	host, _, ok := splitAddress(c.HTTPAddress)
	switch {
	case !ok:
		f.addValue("RETRY_HTTP_ADDRESS", c.HTTPAddress)
	case !loopback(host) && token == "" && c.HTTPCertificate == "" && !f.seen["RETRY_HTTP_TOKEN"] && !f.seen[certificate]:
		f.add("RETRY_HTTP_ADDRESS", "is %q, which other hosts can reach; set RETRY_HTTP_TOKEN or RETRY_HTTP_TOKEN_FILE, or serve TLS with "+
			"%s and %s, or use a loopback address such as 127.0.0.1:8080", c.HTTPAddress, certificate, key)
	}
	if host, _, ok := splitAddress(c.PprofAddress); c.PprofAddress != "" && (!ok || !loopback(host)) {
		f.add("RETRY_PPROF_ADDRESS", "is %q, but profiles are for this host only; use a loopback address such as 127.0.0.1:6060", c.PprofAddress)
	}
}

func (c *Config) checkStore(f *faults) {
	if n := utf8.RuneCountInString(c.ClusterName); n < 1 || n > 100 || !printable(c.ClusterName) {
		f.addValue("RETRY_CLUSTER_NAME", c.ClusterName)
	}
	parsed, err := url.Parse(string(c.DatabaseURL))
	switch c.DatabaseURL.Scheme() {
	case "sqlite":
		if c.SQLitePath() == "" || strings.ContainsAny(c.SQLitePath(), "?#") {
			f.addValue("RETRY_DATABASE_URL", c.DatabaseURL.String())
		}
	case "postgres", "postgresql":
		if err != nil || parsed.Path == "" || parsed.Path == "/" {
			f.addValue("RETRY_DATABASE_URL", c.DatabaseURL.String())
		}
	default:
		f.addValue("RETRY_DATABASE_URL", c.DatabaseURL.String())
	}
	if c.EventsURL != "" && !slices.Contains([]string{"nats", "tls", "amqp", "amqps", "kafka", "kafka+tls"}, c.EventsURL.Scheme()) {
		f.addValue("RETRY_EVENTS_URL", c.EventsURL.String())
	}
}

func (c *Config) checkConnection(f *faults) {
	if host, port, ok := splitAddress(c.ZeebeAddress); !ok || host == "" || port < 1 {
		f.addValue("ZEEBE_ADDRESS", c.ZeebeAddress)
	}
	files := []struct{ name, path string }{
		{"ZEEBE_CA_CERTIFICATE_PATH", c.ZeebeCACertificate},
		{"ZEEBE_CLIENT_CERTIFICATE_PATH", c.ZeebeClientCertificate},
		{"ZEEBE_CLIENT_KEY_PATH", c.ZeebeClientKey},
	}
	for _, file := range files {
		if file.path == "" {
			continue
		}
		if c.ZeebeInsecure {
			f.add(file.name, "has no effect with ZEEBE_INSECURE_CONNECTION=true; remove one of the two")
		} else {
			f.checkFile(file.name, file.path)
		}
	}
	f.checkPair("ZEEBE_CLIENT_CERTIFICATE_PATH", c.ZeebeClientCertificate, "ZEEBE_CLIENT_KEY_PATH", c.ZeebeClientKey)
	c.checkOtherClients(f)
}

// checkFile reports a file that cannot be read.
func (f *faults) checkFile(name, path string) {
	if err := readable(path); err != nil {
		f.add(name, "is %q, which cannot be read: %v", path, err)
	}
}

// checkPair reports a certificate without its key, and a key without its certificate.
func (f *faults) checkPair(name, certificate, keyName, key string) {
	if certificate != "" && key == "" {
		f.add(keyName, "is missing; %s needs it", name)
	}
	if key != "" && certificate == "" {
		f.add(name, "is missing; %s needs it", keyName)
	}
}

func (c *Config) checkOAuth(f *faults) {
	needed := []struct{ name, value string }{
		{"ZEEBE_CLIENT_ID", c.ZeebeClientID},
		{"ZEEBE_CLIENT_SECRET", string(c.ZeebeClientSecret)},
		{"ZEEBE_AUTHORIZATION_SERVER_URL", c.ZeebeAuthorizationURL},
		{"ZEEBE_TOKEN_AUDIENCE", c.ZeebeTokenAudience},
	}
	wanted := c.ZeebeTokenScope != ""
	for _, s := range needed {
		wanted = wanted || s.value != ""
	}
	for _, s := range needed {
		if wanted && s.value == "" {
			f.add(s.name, "is missing; OAuth needs client id, secret, authorization server and audience")
		}
	}
	if c.ZeebeAuthorizationURL != "" {
		checkTokenURL(f, c.ZeebeAuthorizationURL)
	}
	host, _, ok := splitAddress(c.ZeebeAddress)
	if ok && c.ZeebeClientID != "" && c.ZeebeInsecure && !loopback(host) {
		f.add("ZEEBE_INSECURE_CONNECTION", "is true, which would send the OAuth token in plaintext to %s; "+
			"use TLS, or a gateway on this host", host)
	}
}

func checkTokenURL(f *faults, text string) {
	const name = "ZEEBE_AUTHORIZATION_SERVER_URL"
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || (u.Scheme != "https" && u.Scheme != "http"):
		f.addValue(name, text)
	case u.Scheme == "http" && !loopback(u.Hostname()):
		f.add(name, "is %q, which would send the client secret in plaintext; use https", text)
	}
}

// splitAddress takes host:port apart; ok is false where that is not what it is or the port is not one.
func splitAddress(address string) (host string, port int, ok bool) {
	host, digits, err := net.SplitHostPort(address)
	if err != nil || strings.ContainsAny(host, "/ ") {
		return "", 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 16)
	return host, int(number), err == nil
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.IsLoopback())
}

// readable opens the file, since its mode bits do not tell whether this process may read it.
func readable(path string) error {
	file, err := os.Open(path)
	if err == nil {
		_, err = file.Read(make([]byte, 1))
		err = errors.Join(err, file.Close())
	}
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty")
	}
	return withoutPath(err) // which the fault's text names already
}

func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
