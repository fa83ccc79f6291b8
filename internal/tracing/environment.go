package tracing

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"hospital.example/analyze-retry/internal/readfile"
)

// environment holds OpenTelemetry's variables by their names. The SDK reads them from the process by itself. A value that it
// cannot use it replaces by a default, and prints the value to standard error. So all of them are checked before.
type environment map[string]string

const (
	otlp       = "OTEL_EXPORTER_OTLP_"
	otlpTraces = "OTEL_EXPORTER_OTLP_TRACES_" // goes before the other one
)

// get returns a variable as the SDK reads it; empty counts as unset.
func (e environment) get(name string) string { return strings.TrimSpace(e[name]) }

// named returns the name of the variable that counts: that of traces where it is set, else that of all signals.
func (e environment) named(name string) string {
	if e.get(otlpTraces+name) != "" {
		return otlpTraces + name
	}
	return otlp + name
}

// protocol returns how spans are sent.
func (e environment) protocol() string { return cmp.Or(e.get(e.named("PROTOCOL")), "http/protobuf") }

// on reports whether the variables turn tracing on. Its error is about those that turn it off.
func (e environment) on() (bool, error) {
	if e.get(e.named("ENDPOINT")) == "" {
		return false, nil
	}
	err := errors.Join(
		e.check("OTEL_SDK_DISABLED", "true or false", isBool),
		e.check("OTEL_TRACES_EXPORTER", "otlp or none", matches(`otlp|none`)),
	)
	return err == nil && !strings.EqualFold(e.get("OTEL_SDK_DISABLED"), "true") && e.get("OTEL_TRACES_EXPORTER") != "none", err
}

// rules are what the variables may hold. A * stands for the prefix of all signals and for that of traces.
var rules = []struct {
	names, allowed string
	ok             func(string) bool
}{
	{"*ENDPOINT", "http://HOST:PORT or https://HOST:PORT, without user and password", isEndpoint},
	{"*PROTOCOL", "http/protobuf, http/json or grpc", matches(`http/(protobuf|json)|grpc`)},
	{"*INSECURE", "true or false", isBool},
	{"*HEADERS", "NAME=VALUE, several separated by commas, values percent-encoded", isHeaders},
	{"*COMPRESSION", "gzip or none", matches(`gzip|none`)},
	{"*TIMEOUT", "whole milliseconds, 1 or more", isCount},
	{"*CERTIFICATE", "the path of a PEM file with certificates", isAuthorities},
	{"OTEL_TRACES_SAMPLER", "always_on, always_off or traceidratio, each also with parentbased_ before it", matches(`(?i)(parentbased_)?(always_on|always_off|traceidratio)`)},
	{"OTEL_TRACES_SAMPLER_ARG", "a number from 0 to 1", isRatio},
	{"OTEL_RESOURCE_ATTRIBUTES", "NAME=VALUE, several separated by commas, values percent-encoded", isPairs},
	{"OTEL_BSP_SCHEDULE_DELAY OTEL_BSP_EXPORT_TIMEOUT OTEL_BSP_MAX_QUEUE_SIZE OTEL_BSP_MAX_EXPORT_BATCH_SIZE " +
		"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT OTEL_ATTRIBUTE_COUNT_LIMIT OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT " +
		"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT OTEL_SPAN_EVENT_COUNT_LIMIT OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT " +
		"OTEL_SPAN_LINK_COUNT_LIMIT OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", "a whole number, 1 or more", isCount},
}

// faults returns all that is wrong with the variables, one error each that names the variable, joined.
func (e environment) faults() error {
	var found []error
	for _, rule := range rules {
		for name := range strings.FieldsSeq(rule.names) {
			if short, both := strings.CutPrefix(name, "*"); both {
				found = append(found, e.check(otlp+short, rule.allowed, rule.ok))
				name = otlpTraces + short
			}
			found = append(found, e.check(name, rule.allowed, rule.ok))
		}
	}
	found = append(found, e.checkKeyPair(otlp), e.checkKeyPair(otlpTraces))
	if err := errors.Join(found...); err != nil {
		return err
	}
	return e.checkTransport()
}

// check returns an error about a variable that is set to what is not allowed.
func (e environment) check(name, allowed string, ok func(string) bool) error {
	value := e.get(name)
	switch {
	case value == "" || ok(value):
		return nil
	case strings.HasSuffix(name, "HEADERS") || strings.ContainsAny(value, "@?"): // it may be a secret, or hold one
		return fmt.Errorf("%s: allowed: %s", name, allowed)
	}
	return fmt.Errorf("%s: is %.100q; allowed: %s", name, value, allowed)
}

func (e environment) checkKeyPair(prefix string) error {
	certificate, key := prefix+"CLIENT_CERTIFICATE", prefix+"CLIENT_KEY"
	switch {
	case e.get(certificate) == "" && e.get(key) == "":
		return nil
	case e.get(key) == "":
		return fmt.Errorf("%s: is missing; %s is set, and needs it", key, certificate)
	case e.get(certificate) == "":
		return fmt.Errorf("%s: is missing; %s is set, and needs it", certificate, key)
	}
	if _, err := readfile.Pair(e.get(certificate), e.get(key)); err != nil {
		return fmt.Errorf("%s: cannot be used with %s: %w", certificate, key, err)
	}
	return nil
}

// checkTransport refuses what contradicts the URL about TLS: the SDK would follow the other variable.
func (e environment) checkTransport() error {
	endpoint, insecure := e.named("ENDPOINT"), e.named("INSECURE")
	scheme, _, _ := strings.Cut(e.get(endpoint), "://")
	plaintext := strings.EqualFold(scheme, "http")
	if value := e.get(insecure); value != "" && strings.EqualFold(value, "true") != plaintext {
		return fmt.Errorf("%s: is %s, but %s is %s://; they contradict each other", insecure, value, endpoint, scheme)
	}
	var err error
	for _, name := range []string{e.named("CERTIFICATE"), e.named("CLIENT_CERTIFICATE")} {
		if e.get(name) != "" && plaintext {
			err = errors.Join(err, fmt.Errorf("%s: is of use with https:// only, but %s is http://", name, endpoint))
		}
	}
	return err
}

// secrets returns the values of the headers, as they are written and decoded.
func (e environment) secrets() (found []string) {
	for _, pair := range append(pairs(e.get(otlp+"HEADERS")), pairs(e.get(otlpTraces+"HEADERS"))...) {
		found = append(found, pair.raw, pair.value)
	}
	return slices.DeleteFunc(found, func(s string) bool { return s == "" })
}

func matches(expression string) func(string) bool {
	return regexp.MustCompile(`^(?:` + expression + `)$`).MatchString
}

var (
	isBool  = matches(`(?i)true|false`)
	isCount = matches(`[1-9][0-9]{0,9}`)
)

func isRatio(s string) bool {
	ratio, err := strconv.ParseFloat(s, 64)
	return err == nil && ratio >= 0 && ratio <= 1
}

func isEndpoint(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

func isAuthorities(path string) bool {
	_, err := readfile.Authorities(path)
	return err == nil
}

// pair is one of several names with their values, raw as it is written.
type pair struct{ name, raw, value string }

// pairs returns the parts of a list. A pair that cannot be read has no name.
func pairs(list string) (found []pair) {
	if list == "" {
		return nil
	}
	for one := range strings.SplitSeq(list, ",") {
		name, raw, is := strings.Cut(one, "=")
		value, err := url.PathUnescape(raw)
		if name = strings.TrimSpace(name); !is || err != nil {
			name = ""
		}
		found = append(found, pair{name, strings.TrimSpace(raw), strings.TrimSpace(value)})
	}
	return found
}

func isPairs(s string) bool {
	return !slices.ContainsFunc(pairs(s), func(p pair) bool { return p.name == "" })
}

// isHeaders allows only what HTTP takes: the SDK leaves out another name, and every request fails with another value.
func isHeaders(s string) bool {
	return !slices.ContainsFunc(pairs(s), func(p pair) bool {
		return !httpguts.ValidHeaderFieldName(p.name) || !httpguts.ValidHeaderFieldValue(p.value)
	})
}
