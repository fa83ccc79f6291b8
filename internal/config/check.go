package config

import (
	"errors"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/connurl"
	"hospital.example/analyze-retry/internal/readfile"
)

// check reports what decoding cannot find: ranges, files, and settings that need or exclude each other. A variable that
// could not be decoded gets no second fault for its empty field, because add keeps the first fault of a name.
func (c *Config) check(f *faults) {
	c.checkWorker(f)
	c.checkHTTP(f)
	f.require(isText(c.ClusterName, 100), "RETRY_CLUSTER_NAME", c.ClusterName)
	f.require(c.Operator == "" || isText(c.Operator, 128), "RETRY_OPERATOR", c.Operator)
	c.checkDatabaseURL(f)
	c.checkEventsURL(f)
	c.checkAddress(f)
	c.checkCertificates(f)
	c.checkAuthentication(f)
	f.require(tenantID.MatchString(c.Tenant), "RETRY_TENANT", c.Tenant)
}

func (c *Config) checkWorker(f *faults) {
	f.require(isText(c.WorkerName, 300), "RETRY_WORKER_NAME", c.WorkerName)
	f.require(c.MaxJobsActive >= 1 && c.MaxJobsActive <= 1000, "RETRY_MAX_JOBS_ACTIVE", c.MaxJobsActive)
	f.require(c.JobTimeout >= time.Second && c.JobTimeout <= time.Hour, "RETRY_JOB_TIMEOUT", c.JobTimeout)
	f.require(c.ShutdownTimeout >= time.Second && c.ShutdownTimeout <= 10*time.Minute, "RETRY_SHUTDOWN_TIMEOUT", c.ShutdownTimeout)
	f.require(c.MaxClockSkew >= time.Hour && c.MaxClockSkew <= 10*365*24*time.Hour, "RETRY_MAX_CLOCK_SKEW", c.MaxClockSkew)
	f.require(slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel), "RETRY_LOG_LEVEL", c.LogLevel)
	f.require(slices.Contains([]string{"json", "console"}, c.LogFormat), "RETRY_LOG_FORMAT", c.LogFormat)
}

// tenantID is what Zeebe takes for a tenant's id.
var tenantID = regexp.MustCompile(`^(?:<default>|[A-Za-z0-9_.-]{1,31})$`)

// shortestToken is the length below which a token could be guessed.
const shortestToken = 16

// checkHTTP refuses to serve other hosts without a token or a certificate.
func (c *Config) checkHTTP(f *faults) {
	const certificate, key = "RETRY_HTTP_TLS_CERTIFICATE_PATH", "RETRY_HTTP_TLS_KEY_PATH"
	token := string(c.HTTPToken)
	if token != "" && (len(token) < shortestToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })) {
		f.add("RETRY_HTTP_TOKEN", "is too short, or no text for a header; allowed: %s (openssl rand -hex 32)", allowed("RETRY_HTTP_TOKEN"))
	}
	f.checkPair(certificate, c.HTTPCertificate, key, c.HTTPKey)
	c.warnExposedKey(key, c.HTTPKey)
	if c.HTTPCertificate != "" && c.HTTPKey != "" {
		f.checkFile(certificate, c.HTTPCertificate)
		f.checkFile(key, c.HTTPKey)
		if _, err := readfile.Pair(c.HTTPCertificate, c.HTTPKey); err != nil && !f.seen[key] {
			f.add(certificate, "and %s are no certificate and its key: %v", key, err)
		}
	}
	host, _, ok := splitAddress(c.HTTPAddress)
	switch {
	case !ok:
		f.addValue("RETRY_HTTP_ADDRESS", c.HTTPAddress)
	case !connurl.IsLoopback(host) && token == "" && c.HTTPCertificate == "" && !f.seen["RETRY_HTTP_TOKEN"] && !f.seen[certificate]:
		f.add("RETRY_HTTP_ADDRESS", "is %q, which other hosts can reach; set RETRY_HTTP_TOKEN or RETRY_HTTP_TOKEN_FILE, or serve TLS with "+
			"%s and %s, or use a loopback address such as 127.0.0.1:8080", c.HTTPAddress, certificate, key)
	}
}

func (c *Config) checkDatabaseURL(f *faults) {
	const name = "RETRY_DATABASE_URL"
	switch scheme := c.DatabaseURL.Scheme(); scheme {
	case "sqlite":
		first, _, _ := strings.Cut(c.SQLitePath(), "/")
		switch {
		case c.SQLitePath() == "":
			f.addURL(name, scheme, errors.New("names no file"))
		case strings.Contains(first, "@") || strings.ContainsAny(c.SQLitePath(), "?#") || !printable(c.SQLitePath()):
			f.addURL(name, scheme, errors.New("holds an @ where the path begins, a ?, a # or a character that cannot be printed"))
		}
	case "postgres", "postgresql":
		parts, err := connurl.Parse(string(c.DatabaseURL))
		var files []namedFile
		if err == nil {
			files, err = checkPostgres(parts)
		}
		if err != nil {
			f.addURL(name, scheme, err)
		}
		for _, file := range files {
			_, mode, err := readfile.Read(file.path, readfile.MaxPEM)
			if err != nil {
				f.add(name, "names by %s a file that cannot be used: %v", file.parameter, withoutPath(err))
			} else if file.parameter == "sslkey" {
				c.warnExposed("the sslkey of "+name, file.path, mode)
			}
		}
	default:
		f.addValue(name, mask)
	}
}

func (c *Config) checkEventsURL(f *faults) {
	const name = "RETRY_EVENTS_URL"
	scheme := c.EventsURL.Scheme()
	switch {
	case c.EventsURL == "":
	case !slices.Contains([]string{"amqp", "amqps", "kafka", "kafka+tls"}, scheme):
		f.addValue(name, mask)
	default:
		parts, err := connurl.Parse(string(c.EventsURL))
		if err == nil && len(parts.Hosts) == 0 {
			err = errors.New("names no host")
		}
		if err == nil {
			_, err = parts.Parameters()
		}
		if err != nil {
			f.addURL(name, scheme, err)
		}
	}
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

// splitAddress returns the parts of host:port; ok reports whether it is that, with a port from 0 to 65535.
func splitAddress(address string) (host string, port int, ok bool) {
	host, digits, err := net.SplitHostPort(address)
	if err != nil || strings.ContainsAny(host, `/\@ `) || !printable(host) {
		return "", 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 16)
	return host, int(number), err == nil
}

// readable reads the file, since its mode bits do not tell whether this process may.
func readable(path string) error {
	content, _, err := readfile.Read(path, readfile.MaxPEM)
	if err == nil && len(content) == 0 {
		return errors.New("it is empty")
	}
	return withoutPath(err) // which the fault's text names already
}

// isText reports whether a text has 1 to most printable characters.
func isText(text string, most int) bool {
	n := utf8.RuneCountInString(text)
	return n >= 1 && n <= most && printable(text)
}

func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
