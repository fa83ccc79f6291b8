package config

import (
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
	if _, _, ok := splitAddress(c.HTTPAddress); !ok {
		f.addValue("RETRY_HTTP_ADDRESS", c.HTTPAddress)
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel) {
		f.addValue("RETRY_LOG_LEVEL", c.LogLevel)
	}
	if !slices.Contains([]string{"json", "console"}, c.LogFormat) {
		f.addValue("RETRY_LOG_FORMAT", c.LogFormat)
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
		} else if err := readable(file.path); err != nil {
			f.add(file.name, "is %q, which cannot be read: %v", file.path, err)
		}
	}
	if c.ZeebeClientCertificate != "" && c.ZeebeClientKey == "" {
		f.add("ZEEBE_CLIENT_KEY_PATH", "is missing; ZEEBE_CLIENT_CERTIFICATE_PATH needs it")
	}
	if c.ZeebeClientKey != "" && c.ZeebeClientCertificate == "" {
		f.add("ZEEBE_CLIENT_CERTIFICATE_PATH", "is missing; ZEEBE_CLIENT_KEY_PATH needs it")
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
	if fault, ok := errors.AsType[*os.PathError](err); ok {
		return fault.Err // without the path, which the fault's text names already
	}
	return err
}

func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
