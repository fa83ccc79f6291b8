// Package queue picks the queue that RETRY_EVENTS_URL names.
package queue

import (
	"cmp"
	"crypto/tls"
	"errors"
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

// kinds are the queues by the scheme of their URL, with the port for hosts without one and what the query may
// hold.
var kinds = map[string]struct {
	port       string
	parameters []string
}{
	"amqp":      {"5672", []string{"create", "exchange", "insecure", "queue"}},
	"amqps":     {"5671", []string{"ca", "create", "exchange", "queue"}},
	"kafka":     {"9092", []string{"create", "insecure", "sasl", "topic"}},
	"kafka+tls": {"9093", []string{"ca", "create", "sasl", "topic"}},
}

// name matches what exchanges, queues and topics may be called. It leaves out what has a meaning of its own
// in the queue.
var name = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)

// Open makes the publisher for a URL. It does not wait for the queue, which may come later. Its error names
// everything that is wrong with the URL, one fault a line, and shows neither user nor password.
//
//	amqp://user:password@host:5672/vhost?exchange=analyze-retry.events&queue=analyze-retry.events
//	kafka://user:password@host:9092,host2:9092?topic=analyze-retry.events&sasl=scram-sha-512
//
// With TLS they are amqps:// and kafka+tls://, and take ca=FILE, for certificate authorities instead of the
// system's. All take create=false, if the worker may not create the queue. Without TLS insecure=true lets a
// password go in plaintext to a host that is not loopback.
func Open(raw string) (events.Publisher, error) {
	a, err := parse(raw)
	if err != nil {
		return nil, err
	}
	secure, keepOut := a.tls(), a.choice("create", "true", "false") == "false"
	insecure := a.choice("insecure", "false", "true") == "true"
	if a.user != "" && secure == nil && !insecure && !a.loopback() {
		a.fault("a password in plaintext goes to loopback only: use TLS, or add insecure=true")
	}
	if strings.HasPrefix(a.scheme, "amqp") {
		c := rabbitmq.Config{
			Address: a.hosts[0], User: a.user, Password: a.password, TLS: secure,
			VirtualHost: cmp.Or(strings.TrimPrefix(a.path, "/"), "/"),
			Exchange:    a.name("exchange"), Queue: a.name("queue"), KeepOut: keepOut,
		}
		if len(a.hosts) > 1 {
			a.fault("one host only, a load balancer where there are several")
		}
		if a.user == "" {
			a.fault("a user and a password are needed")
		}
		if len(a.faults) > 0 {
			return nil, errors.Join(a.faults...)
		}
		return rabbitmq.Open(c), nil
	}
	c := kafka.Config{
		Brokers: a.hosts, User: a.user, Password: a.password, TLS: secure,
		SASL: a.choice("sasl", kafka.Mechanisms()...), Topic: a.name("topic"), KeepOut: keepOut,
	}
	if strings.Trim(a.path, "/") != "" {
		a.fault("a path is for amqp:// only")
	}
	if len(a.faults) > 0 {
		return nil, errors.Join(a.faults...)
	}
	return kafka.Open(c)
}

// address is a URL in its parts. Its methods collect what is wrong with it.
type address struct {
	scheme, user, password, path string
	hosts                        []string // host:port
	query                        url.Values
	faults                       []error
}

// parse takes a URL apart. Its errors repeat nothing of it, as any part may be one of a password.
func parse(raw string) (*address, error) {
	scheme, rest, _ := strings.Cut(raw, "://")
	kind, known := kinds[scheme]
	if !known {
		return nil, errors.New("must begin with amqp://, amqps://, kafka:// or kafka+tls://")
	}
	at := strings.LastIndex(rest, "@") + 1
	login, place := rest[:at], rest[at:]
	if strings.ContainsAny(strings.TrimSuffix(login, "@"), "@/?") || strings.Contains(rest, "#") {
		return nil, errors.New("holds an @, a #, or a / or ? before the @, that is part of a user, a password " +
			"or a name: write it as %40, %23, %2F or %3F")
	}
	a := &address{scheme: scheme}
	end := strings.IndexAny(place+"/", "/?")
	for host := range strings.SplitSeq(place[:end], ",") { // net/url knows one host
		u, err := url.Parse(scheme + "://" + login + host + place[end:])
		if err != nil {
			return nil, errors.New("has a host or a port that is none, or a character to be written as %XX")
		}
		if u.Hostname() == "" {
			return nil, errors.New("names no host")
		}
		if a.query, err = url.ParseQuery(u.RawQuery); err != nil {
			return nil, errors.New("has a query that is not name=value&name=value")
		}
		a.user, a.path = u.User.Username(), u.Path
		a.password, _ = u.User.Password()
		a.hosts = append(a.hosts, net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), kind.port)))
	}
	for parameter, values := range a.query {
		if !slices.Contains(kind.parameters, parameter) || len(values) > 1 {
			a.fault("holds a name in its query twice, or one that is not known; allowed with " + scheme + "://: " +
				strings.Join(kind.parameters, ", "))
		}
	}
	return a, nil
}

func (a *address) fault(text string) { a.faults = append(a.faults, errors.New(text)) }

// choice returns the value of a parameter, or the first of those that it may have.
func (a *address) choice(parameter string, allowed ...string) string {
	value := cmp.Or(a.query.Get(parameter), allowed[0])
	if !slices.Contains(allowed, value) {
		a.fault(parameter + " must be " + strings.Join(allowed, " or "))
	}
	return value
}

// name returns a parameter that is the name of an exchange, a queue or a topic.
func (a *address) name(parameter string) string {
	value := cmp.Or(a.query.Get(parameter), "analyze-retry.events")
	if !name.MatchString(value) {
		a.fault(parameter + " must match " + name.String())
	}
	return value
}

// tls returns nil if the scheme is one without TLS.
func (a *address) tls() *tls.Config {
	if a.scheme == "amqp" || a.scheme == "kafka" {
		return nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := a.query.Get("ca"); file != "" {
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
