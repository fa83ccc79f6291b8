// Package queue picks the queue that RETRY_EVENTS_URL names.
package queue

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/connurl"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/events/kafka"
	"hospital.example/analyze-retry/internal/events/rabbitmq"
	"hospital.example/analyze-retry/internal/readfile"
)

// schemes are the schemes of URLs, with the port for hosts without one.
var schemes = map[string]string{
	"amqp": "5672", "amqps": "5671", "kafka": "9092", "kafka+tls": "9093",
}

const allowed = "amqp://, amqps://, kafka:// or kafka+tls://"

// Open makes the publisher for a URL. It does not wait for the queue, which may come later. Its error names everything that
// is wrong with the URL, one fault a line, and shows neither user nor password.
//
//	amqp://user:password@host:5672/vhost?exchange=analyze-retry.events&queue=analyze-retry.events    amqps://... with TLS
//	kafka://user:password@host:9092,host2:9092?topic=analyze-retry.events&sasl=scram-sha-512    kafka+tls://... with TLS
//
// Both take create=false, if the worker may not create the queue, ca=FILE, for certificate authorities instead of the
// system's, and insecure=true, which lets a password go in plaintext to a host that is not loopback.
func Open(raw string) (events.Publisher, error) {
	u, err := parse(raw)
	if err != nil {
		return nil, err
	}
	secure, keepOut, insecure := u.tls(), !u.flag("create", true), u.flag("insecure", false)
	if u.user != "" && secure == nil && !insecure && !u.loopback() {
		u.fault("a password in plaintext goes to loopback only: use TLS, or add insecure=true")
	}
	switch u.Scheme {
	case "amqp", "amqps":
		if len(u.hosts) > 1 {
			u.fault("one host only, a load balancer where there are several")
		}
		if u.user == "" {
			u.fault("a user and a password are needed")
		}
		config := rabbitmq.Config{
			Address: u.hosts[0], User: u.user, Password: u.password, VirtualHost: u.virtualHost(), TLS: secure,
			Exchange: u.name("exchange", "analyze-retry.events", plainName), Queue: u.name("queue", "analyze-retry.events", plainName), KeepOut: keepOut,
		}
		if err := u.check(u.Path); err != nil {
			return nil, err
		}
		return rabbitmq.New(config), nil
	default:
		config := kafka.Config{
			Brokers: u.hosts, User: u.user, Password: u.password, TLS: secure,
			Topic: u.name("topic", "analyze-retry.events", topicName), SASL: u.mechanism(), KeepOut: keepOut,
		}
		if err := u.check(""); err != nil {
			return nil, err
		}
		return kafka.Open(config)
	}
}

// What names may hold. All leave out what has a meaning of its own in the queue.
var (
	plainName = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,255}$`)
	topicName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)
)

// address is a URL. Its methods collect what is wrong with it.
type address struct {
	connurl.URL
	user, password string
	hosts          []string // host:port
	query          map[string]string
	known          []string // names that the query may hold
	faults         []error
}

func parse(raw string) (*address, error) {
	u, err := connurl.Parse(raw)
	port, known := schemes[u.Scheme]
	if !known {
		return nil, errors.New("must begin with " + allowed)
	}
	parameters, queryErr := u.Parameters()
	if err = cmp.Or(err, queryErr); err != nil {
		return nil, err
	}
	if len(u.Hosts) == 0 {
		return nil, errors.New("names no host")
	}
	a := &address{URL: u, query: map[string]string{}}
	a.user, a.password = u.Login()
	for _, p := range parameters {
		a.query[p[0]] = p[1]
	}
	for _, host := range u.Hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		a.hosts = append(a.hosts, host)
	}
	return a, nil
}

func (a *address) fault(text string) { a.faults = append(a.faults, errors.New(text)) }

func (a *address) get(name string) (value string, given bool) {
	a.known = append(a.known, name)
	value, given = a.query[name]
	return value, given
}

func (a *address) name(name, otherwise string, form *regexp.Regexp) string {
	value, given := a.get(name)
	if !given {
		return otherwise
	}
	if !form.MatchString(value) {
		a.fault(fmt.Sprintf("%s must match %s", name, form))
	}
	return value
}

func (a *address) flag(name string, otherwise bool) bool {
	value, given := a.get(name)
	if !given {
		return otherwise
	}
	if value != "true" && value != "false" {
		a.fault(name + " must be true or false")
	}
	return value == "true"
}

func (a *address) mechanism() kafka.Mechanism {
	value, given := a.get("sasl")
	if !given {
		return kafka.ScramSHA512
	}
	m := kafka.Mechanism(value)
	if !slices.Contains([]kafka.Mechanism{kafka.Plain, kafka.ScramSHA256, kafka.ScramSHA512}, m) {
		a.fault("sasl must be plain, scram-sha-256 or scram-sha-512")
	}
	return m
}

// tls returns nil if the scheme is one without TLS.
func (a *address) tls() *tls.Config {
	file, given := a.get("ca")
	if a.Scheme == "amqp" || a.Scheme == "kafka" {
		if given {
			a.fault("ca is for TLS only: amqps:// or kafka+tls://")
		}
		return nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if given {
		var err error
		if config.RootCAs, err = readfile.Authorities(file); err != nil {
			a.fault("ca must be the path of a readable PEM file with certificates")
		}
	}
	return config
}

func (a *address) loopback() bool {
	return !slices.ContainsFunc(a.hosts, func(hostPort string) bool {
		host, _, _ := net.SplitHostPort(hostPort)
		return !connurl.IsLoopback(host)
	})
}

// virtualHost returns the path, as in every AMQP URL: none is "/", and "/" itself is written %2F.
func (a *address) virtualHost() string {
	name, _ := url.PathUnescape(strings.TrimPrefix(a.Path, "/")) // connurl has checked the escapes
	return cmp.Or(name, "/")
}

// check returns what is wrong with the URL. It may have this path and the names in its query that were looked up.
func (a *address) check(path string) error {
	if a.Path != path && a.Path != "/" {
		a.fault("a path is for amqp:// only")
	}
	slices.Sort(a.known)
	for name := range a.query {
		if !slices.Contains(a.known, name) {
			// The name is not repeated: it may be the end of a password with a ? in it.
			a.fault("holds a name in its query that is not known; allowed: " + strings.Join(a.known, ", "))
		}
	}
	return errors.Join(a.faults...)
}
