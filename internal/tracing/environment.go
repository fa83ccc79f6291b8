package tracing

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"hospital.example/analyze-retry/internal/readfile"
)

// The SDK reads the variables by itself. What it cannot use it replaces by a default, and says so, with the value, on
// standard error. So they are all looked at here before it is asked.

// environment is what is to be known of the variables beside that.
type environment struct {
	on                 bool
	grpc               bool
	protocol           string
	endpointName, host string
	secrets            []string
}

const (
	otlp       = "OTEL_EXPORTER_OTLP_"
	otlpTraces = "OTEL_EXPORTER_OTLP_TRACES_" // goes before the other one
)

// fault is an error that names the variable.
func fault(name, format string, args ...any) error {
	return fmt.Errorf(name+": "+format, args...)
}

// readEnvironment reads the variables. Its error tells all faults, one a line. Where tracing is off, only what turns it
// off is looked at.
func readEnvironment() (environment, error) {
	e := environment{endpointName: named("ENDPOINT")}
	if get(e.endpointName) == "" {
		return e, nil
	}
	err := errors.Join(check("OTEL_SDK_DISABLED", "true or false", isBool), check("OTEL_TRACES_EXPORTER", "otlp or none", among("otlp", "none")))
	if err != nil || strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") || get("OTEL_TRACES_EXPORTER") == "none" {
		return e, err
	}
	e.on = true
	e.protocol = get(named("PROTOCOL"))
	if e.protocol == "" {
		e.protocol = "http/protobuf"
	}
	e.grpc = e.protocol == "grpc"
	if err := errors.Join(checkOTLP(otlp), checkOTLP(otlpTraces), checkSDK()); err != nil {
		return e, err
	}
	endpoint, err := url.Parse(get(e.endpointName))
	if err != nil {
		return e, err // cannot be, it was checked
	}
	e.host = endpoint.Host
	for _, prefix := range []string{otlp, otlpTraces} {
		for _, pair := range pairs(get(prefix + "HEADERS")) {
			e.secrets = append(e.secrets, pair.raw, pair.value)
		}
	}
	e.secrets = slices.DeleteFunc(e.secrets, func(s string) bool { return s == "" })
	return e, checkTransport(e.endpointName, endpoint.Scheme)
}

// get is a variable as the SDK reads it; empty counts as unset.
func get(name string) string { return strings.TrimSpace(os.Getenv(name)) }

// named is the name of the variable that counts: that of traces where it is set, else that of all signals.
func named(name string) string {
	if get(otlpTraces+name) != "" {
		return otlpTraces + name
	}
	return otlp + name
}

// check looks at a variable if it is set.
func check(name, allowed string, ok func(string) bool) error {
	value := get(name)
	switch {
	case value == "" || ok(value):
		return nil
	case strings.HasSuffix(name, "HEADERS") || strings.ContainsAny(value, "@?"): // it may be a secret, or hold one
		return fault(name, "allowed: %s", allowed)
	}
	return fault(name, "is %.100q; allowed: %s", value, allowed)
}

func checkOTLP(prefix string) error {
	return errors.Join(
		check(prefix+"ENDPOINT", "http://HOST:PORT or https://HOST:PORT, without user and password", isEndpoint),
		check(prefix+"PROTOCOL", "http/protobuf, http/json or grpc", among("http/protobuf", "http/json", "grpc")),
		check(prefix+"INSECURE", "true or false", isBool),
		check(prefix+"HEADERS", "NAME=VALUE, several separated by commas, values percent-encoded", isHeaders),
		check(prefix+"COMPRESSION", "gzip or none", among("gzip", "none")),
		check(prefix+"TIMEOUT", "whole milliseconds, 1 or more", isCount),
		check(prefix+"CERTIFICATE", "the path of a PEM file with certificates", isAuthorities),
		checkKeyPair(prefix+"CLIENT_CERTIFICATE", prefix+"CLIENT_KEY"),
	)
}

func checkKeyPair(certificate, key string) error {
	switch {
	case get(certificate) == "" && get(key) == "":
		return nil
	case get(key) == "":
		return fault(key, "is missing; %s is set, and needs it", certificate)
	case get(certificate) == "":
		return fault(certificate, "is missing; %s is set, and needs it", key)
	}
	if _, err := readfile.Pair(get(certificate), get(key)); err != nil {
		return fault(certificate, "cannot be used with %s: %v", key, err)
	}
	return nil
}

func checkSDK() error {
	err := errors.Join(
		check("OTEL_TRACES_SAMPLER", strings.Join(samplers, ", "), func(s string) bool { return slices.Contains(samplers, strings.ToLower(s)) }),
		check("OTEL_TRACES_SAMPLER_ARG", "a number from 0 to 1", isRatio),
		check("OTEL_RESOURCE_ATTRIBUTES", "NAME=VALUE, several separated by commas, values percent-encoded", isPairs),
	)
	for _, name := range []string{"SCHEDULE_DELAY", "EXPORT_TIMEOUT", "MAX_QUEUE_SIZE", "MAX_EXPORT_BATCH_SIZE"} {
		err = errors.Join(err, check("OTEL_BSP_"+name, "a whole number, 1 or more", isCount))
	}
	for _, name := range []string{
		"ATTRIBUTE_VALUE_LENGTH", "ATTRIBUTE_COUNT", "SPAN_ATTRIBUTE_VALUE_LENGTH", "SPAN_ATTRIBUTE_COUNT", "SPAN_EVENT_COUNT",
		"EVENT_ATTRIBUTE_COUNT", "SPAN_LINK_COUNT", "LINK_ATTRIBUTE_COUNT",
	} {
		err = errors.Join(err, check("OTEL_"+name+"_LIMIT", "a whole number, 1 or more", isCount))
	}
	return err
}

var samplers = []string{
	"always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
}

// checkTransport refuses what contradicts the URL about TLS: the SDK would follow the other variable.
func checkTransport(endpoint, scheme string) error {
	insecure := named("INSECURE")
	if value := get(insecure); value != "" && strings.EqualFold(value, "true") != (scheme == "http") {
		return fault(insecure, "is %s, but %s is %s://; they contradict each other", value, endpoint, scheme)
	}
	var err error
	for _, name := range []string{named("CERTIFICATE"), named("CLIENT_CERTIFICATE")} {
		if get(name) != "" && scheme == "http" {
			err = errors.Join(err, fault(name, "is of use with https:// only, but %s is http://", endpoint))
		}
	}
	return err
}

func among(values ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(values, s) }
}

func isBool(s string) bool { return strings.EqualFold(s, "true") || strings.EqualFold(s, "false") }

func isCount(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 1
}

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

// pair is one of several names with their values, raw as it stands in the variable.
type pair struct{ name, raw, value string }

// pairs takes a list apart. A pair that cannot be read has no name.
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
		return p.name == "" || strings.ContainsFunc(p.name, notInName) || strings.ContainsFunc(p.value, notInValue)
	})
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func notInValue(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
