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

// ports are the ports of hosts for which the URL names none, by its scheme.
var ports = map[string]string{"amqp": "5672", "amqps": "5671", "kafka": "9092", "kafka+tls": "9093"}

// standard is how exchange, queue and topic are called unless the URL says so.
const standard = "analyze-retry.events"

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
	hosts                        []string    // host:port, one at least
	tls                          *tls.Config // nil for plaintext
	keepOut                      bool        // the worker creates nothing

	topic, mechanism string // of Kafka
	// exchange is a topic exchange of RabbitMQ; an event's type is its routing key. queue is bound to it for
	// all types. Both are durable. If they do not exist, they are created, unless keepOut is set.
	exchange, queue string

	query  map[string]string // what take has not taken yet
	taken  []string
	faults []error
}

func parse(raw string) (*place, error) {
	u, err := connurl.Parse(raw)
	if err == nil && (ports[u.Scheme] == "" || u.Host == "") {
		err = errors.New("must begin with amqp://, amqps://, kafka:// or kafka+tls://, and name a host")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	p := &place{scheme: u.Scheme, user: u.User.Username(), path: strings.TrimPrefix(u.Path, "/")}
	p.query = map[string]string{}
	p.password, _ = u.User.Password()
	for name, values := range u.Query() {
		p.query[name] = values[0]
	}
	plain := false
	for host := range strings.SplitSeq(u.Host, ",") {
		h := url.URL{Host: host}
		p.hosts = append(p.hosts, net.JoinHostPort(h.Hostname(), cmp.Or(h.Port(), ports[p.scheme])))
		plain = plain || !connurl.IsLoopback(h.Hostname())
	}
	p.keepOut = p.take("create", "true", "false") == "false"
	if p.scheme == "amqps" || p.scheme == "kafka+tls" {
		p.trust(p.take("ca", ""))
	} else if p.take("insecure", "false", "true") == "false" && plain && p.user+p.password != "" {
		p.fault("a password in plaintext goes to loopback only: use TLS, or add insecure=true")
	}
	if strings.HasPrefix(p.scheme, "amqp") {
		p.takeRabbitMQ()
	} else {
		p.takeKafka()
	}
	if len(p.query) > 0 {
		p.fault("holds a name in its query that is not known; allowed: " + strings.Join(p.taken, ", "))
	}
	return p, errors.Join(p.faults...)
}

func (p *place) fault(text string) { p.faults = append(p.faults, errors.New(setting+": "+text)) }

// take returns a parameter, or the first of those that it may be. If that is the only one, it may be
// anything.
func (p *place) take(parameter string, allowed ...string) string {
	value := cmp.Or(p.query[parameter], allowed[0])
	if len(allowed) > 1 && !slices.Contains(allowed, value) {
		p.fault(parameter + " must be " + strings.Join(allowed, " or "))
	}
	delete(p.query, parameter)
	p.taken = append(p.taken, parameter)
	return value
}

// trust sets TLS up, with the certificate authorities of a file, the system's if it is empty.
func (p *place) trust(file string) {
	p.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	if file == "" {
		return
	}
	var err error
	if p.tls.RootCAs, err = readfile.Authorities(file); err != nil {
		p.fault("ca must be the path of a readable PEM file with certificates")
	}
}
