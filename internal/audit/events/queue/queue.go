// Package queue holds the queues that RETRY_EVENTS_URL can name, one file for each technology.
package queue

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/config/connurl"
	"hospital.example/analyze-retry/internal/config/readfile"
)

// setting is what faults are of.
const setting = "RETRY_EVENTS_URL"

// standard is how exchange, queue and topic are called unless the URL says so.
const standard = "analyze-retry.events"

// parameter is one that a URL may have. It is the first of its values unless the URL says otherwise; where
// that is the only one, it may be anything.
type parameter struct {
	name   string
	values []string
}

var (
	create   = parameter{"create", []string{"true", "false"}} // what is not there
	insecure = parameter{"insecure", []string{"false", "true"}}
	ca       = parameter{"ca", []string{""}}

	exchange = parameter{"exchange", []string{standard}}
	bound    = parameter{"queue", []string{standard}}

	topic = parameter{"topic", []string{standard}}
	// PLAIN shows the password to the broker, SCRAM does not.
	mechanism = parameter{"sasl", []string{"scram-sha-512", "scram-sha-256", "plain"}}
)

// schemes are those that a URL may begin with, each with the port of hosts for which the URL names none.
var schemes = map[string]struct {
	port       string
	parameters []parameter
}{
	"amqp":      {"5672", []parameter{create, insecure, exchange, bound}},
	"amqps":     {"5671", []parameter{create, ca, exchange, bound}},
	"kafka":     {"9092", []parameter{create, insecure, topic, mechanism}},
	"kafka+tls": {"9093", []parameter{create, ca, topic, mechanism}},
}

// Open makes the publisher for a URL. It does not wait for the queue, which may come later. Its error names
// everything that is wrong with the URL, one fault a line with the setting, and repeats nothing of it.
//
//	amqp://user:password@host:5672/vhost?exchange=analyze-retry.events&queue=analyze-retry.events
//	kafka://user:password@host:9092,host2:9092?topic=analyze-retry.events&sasl=scram-sha-512
//
// With TLS they are amqps:// and kafka+tls://, and take ca=FILE, for certificate authorities instead of the
// system's. All take create=false, if the worker may not create the queue. Without TLS insecure=true lets a
// password go in plaintext to a host that is not loopback.
func Open(raw string) (events.Publisher, error) {
	p, err := parse(raw)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(p.scheme, "amqp") {
		return &rabbitMQ{place: p}, nil
	}
	return openKafka(p)
}

// Hosts returns the hosts of a URL, each host:port. Its error is that of [Open].
func Hosts(raw string) ([]string, error) {
	p, err := parse(raw)
	if err != nil {
		return nil, err
	}
	return p.hosts, nil
}

// place is where events go: a URL in its parts.
type place struct {
	scheme, user, password, path string
	hosts                        []string          // host:port, one at least
	tls                          *tls.Config       // nil for plaintext
	query                        map[string]string // all parameters of the scheme
}

func parse(raw string) (*place, error) {
	u, err := connurl.Parse(raw)
	if err == nil && (schemes[u.Scheme].port == "" || u.Host == "") {
		err = errors.New("must begin with amqp://, amqps://, kafka:// or kafka+tls://, and name a host")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	var faults []error
	fault := func(text string) { faults = append(faults, errors.New(setting+": "+text)) }
	p := &place{scheme: u.Scheme, user: u.User.Username(), path: strings.TrimPrefix(u.Path, "/")}
	p.password, _ = u.User.Password()
	p.query = map[string]string{}
	given, known := u.Query(), []string{}
	for _, one := range schemes[p.scheme].parameters {
		value := cmp.Or(given.Get(one.name), one.values[0])
		if len(one.values) > 1 && !slices.Contains(one.values, value) {
			fault(one.name + " must be " + strings.Join(one.values, " or "))
		}
		p.query[one.name] = value
		known = append(known, one.name)
		given.Del(one.name)
	}
	if len(given) > 0 {
		fault("holds a name in its query that is not known; allowed: " + strings.Join(known, ", "))
	}
	away := false
	for host := range strings.SplitSeq(u.Host, ",") {
		h := url.URL{Host: host}
		p.hosts = append(p.hosts, net.JoinHostPort(h.Hostname(), cmp.Or(h.Port(), schemes[p.scheme].port)))
		away = away || !connurl.IsLoopback(h.Hostname())
	}
	if p.scheme == "amqps" || p.scheme == "kafka+tls" {
		p.tls = &tls.Config{MinVersion: tls.VersionTLS12}
		if file := p.query["ca"]; file != "" {
			if p.tls.RootCAs, err = readfile.Authorities(file); err != nil {
				fault("ca must be the path of a readable PEM file with certificates")
			}
		}
	} else if away && p.user+p.password != "" && p.query["insecure"] != "true" {
		fault("a password in plaintext goes to loopback only: use TLS, or add insecure=true")
	}
	switch isRabbitMQ := strings.HasPrefix(p.scheme, "amqp"); {
	case isRabbitMQ && len(p.hosts) > 1:
		fault("one host only, a load balancer where there are several")
	case !isRabbitMQ && p.path != "":
		fault("a path is for amqp:// only")
	}
	return p, errors.Join(faults...)
}
