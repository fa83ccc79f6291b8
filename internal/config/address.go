package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"hospital.example/analyze-retry/internal/connurl"
)

// Address is where the cluster is reached, and by which transport.
type Address struct {
	// Scheme is grpc or http for plaintext, grpcs or https for TLS.
	Scheme string
	// HostPort is host:port.
	HostPort string
	// Path is what precedes the /v2 of the REST API, without a / at its end; empty for gRPC.
	Path string
}

// String returns the address as a URL. It holds nothing secret.
func (a Address) String() string { return a.Scheme + "://" + a.HostPort + a.Path }

// REST reports whether the address is one of the REST API; the others are of gRPC.
func (a Address) REST() bool { return a.Scheme == "http" || a.Scheme == "https" }

// Plaintext reports whether the connection is without TLS.
func (a Address) Plaintext() bool { return a.Scheme == "http" || a.Scheme == "grpc" }

// Host returns the host's name without the port.
func (a Address) Host() string {
	host, _, _ := net.SplitHostPort(a.HostPort) // readAddress has checked it
	return host
}

// Transport returns gRPC or REST, with what protects it, for people.
func (a Address) Transport() string {
	transport, security := "gRPC", "TLS"
	if a.REST() {
		transport = "REST"
	}
	if a.Plaintext() {
		security = "plaintext"
	}
	return transport + " over " + security
}

// The settings that hold an address. The first gRPC address counts, then the first REST address.
const (
	anyAddress  = "ZEEBE_ADDRESS"
	grpcAddress = "ZEEBE_GRPC_ADDRESS"
	restAddress = "ZEEBE_REST_ADDRESS"
)

// Address returns where the cluster is reached.
func (c *Config) Address() Address {
	address, _ := c.chosen()
	return address
}

// AddressVariable returns the variable that [Config.Address] was read from.
func (c *Config) AddressVariable() string {
	_, name := c.chosen()
	return c.variable(name)
}

// UnusedAddressVariable returns the variable with a REST address that is not used, because one of gRPC is set as well; empty if
// there is none.
func (c *Config) UnusedAddressVariable() string {
	used, _ := c.chosen()
	for _, one := range c.addresses() {
		if one.err == nil && one.REST() != used.REST() {
			return c.variable(one.name)
		}
	}
	return ""
}

// namedAddress is what a setting says about the address.
type namedAddress struct {
	name, text string
	Address
	err error
}

// addresses returns the addresses that are set.
func (c *Config) addresses() (list []namedAddress) {
	for _, one := range []namedAddress{{name: anyAddress, text: c.ZeebeAddress}, {name: grpcAddress, text: c.ZeebeGRPCAddress}, {name: restAddress, text: c.ZeebeRESTAddress}} {
		if one.text != "" {
			one.Address, one.err = readAddress(one.name, one.text, c.ZeebeInsecure)
			list = append(list, one)
		}
	}
	return list
}

// chosen returns the address that is used, and the setting that holds it.
func (c *Config) chosen() (used Address, name string) {
	for _, one := range c.addresses() {
		if one.err == nil && (name == "" || used.REST() && !one.REST()) {
			used, name = one.Address, one.name
		}
	}
	return used, cmp.Or(name, anyAddress)
}

// The ports of URLs that name none; 26500 is the gateway's own.
var defaultPorts = map[string]string{"grpc": "26500", "grpcs": "443", "http": "80", "https": "443"}

var errNoAddress = errors.New("") // the text that is allowed says enough

// readAddress reads an address from the setting that holds it. plaintext is how one without a scheme is meant. Its errors
// complete "which ..." and repeat nothing of the text.
func readAddress(name, text string, plaintext bool) (Address, error) {
	if !strings.Contains(text, "://") {
		host, port, ok := splitAddress(text)
		switch {
		case !ok || host == "" || port < 1 || strings.ContainsAny(text, unsafeInFaults):
			return Address{}, errNoAddress
		case name == restAddress:
			return Address{}, errors.New("has no scheme")
		case plaintext:
			return Address{Scheme: "grpc", HostPort: text}, nil
		default:
			return Address{Scheme: "grpcs", HostPort: text}, nil
		}
	}
	u, err := connurl.Parse(text)
	standard, known := defaultPorts[u.Scheme]
	rest := strings.HasPrefix(u.Scheme, "http")
	switch {
	case !known:
		return Address{}, errors.New("begins with a scheme that is none of grpc, grpcs, http and https")
	case u.HasUser:
		return Address{}, errors.New("holds a user; give user and password by CAMUNDA_BASIC_AUTH_USERNAME and CAMUNDA_BASIC_AUTH_PASSWORD")
	case err != nil:
		return Address{}, err
	case len(u.Hosts) != 1:
		return Address{}, errors.New("names not just one host")
	case strings.ContainsAny(text, unsafeInFaults):
		return Address{}, errors.New("holds a ? or a %")
	case name == restAddress && !rest:
		return Address{}, errors.New("is an address of gRPC; it belongs into ZEEBE_GRPC_ADDRESS")
	}
	a := Address{Scheme: u.Scheme, HostPort: u.Hosts[0], Path: strings.TrimRight(u.Path, "/")}
	if _, _, ok := splitAddress(a.HostPort); !ok {
		a.HostPort += ":" + standard
	}
	if name == grpcAddress && rest {
		a.Scheme = map[string]string{"http": "grpc", "https": "grpcs"}[u.Scheme]
	}
	if a.REST() {
		a.Path = strings.TrimRight(strings.TrimSuffix(a.Path, "/v2"), "/")
	} else if a.Path != "" {
		return Address{}, errors.New("has a path, which gRPC cannot use; a REST address belongs into ZEEBE_REST_ADDRESS")
	}
	return a, nil
}

// unsafeInFaults are characters around which a text may hold a password.
const unsafeInFaults = "@?#%"

// checkAddress reports addresses that cannot be read, that contradict one another, and that look like those of another API.
func (c *Config) checkAddress(f *faults) {
	var used []namedAddress // of each transport the first one
	for _, one := range c.addresses() {
		if one.err != nil {
			f.addAddress(one)
			continue
		}
		twin := false
		for _, other := range used {
			if other.REST() == one.REST() {
				twin = true
				if !strings.EqualFold(other.String(), one.String()) {
					f.add(one.name, "and %s name different addresses, %s and %s; remove one of the two", c.variable(other.name), one.Address, other.Address)
				}
			}
		}
		if !twin {
			used = append(used, one)
		}
	}
	address, name := c.chosen()
	if f.seen[name] {
		return
	}
	c.checkScheme(address, name, f)
	c.warnUnused(address)
	switch _, port, _ := splitAddress(address.HostPort); {
	case !address.REST() && port == 8080:
		c.warn("%s names port 8080 for gRPC, which is the port of Camunda's REST API; gRPC has 26500, and REST addresses begin with http:// or https:// "+
			"in ZEEBE_ADDRESS or ZEEBE_REST_ADDRESS", c.variable(name))
	case address.REST() && port == 26500:
		c.warn("%s names port 26500 for REST, which is the port of Zeebe's gRPC API; REST has 8080, and gRPC addresses begin with grpc:// or grpcs://", c.variable(name))
	}
}

// warnUnused warns of a REST address that is not used. The credentials files of Camunda's SaaS have both, so it does not warn of them.
func (c *Config) warnUnused(used Address) {
	unused, downloaded := c.UnusedAddressVariable(), true
	var grpc []string
	for _, one := range c.addresses() {
		downloaded = downloaded && c.origins[one.name].source == FromCredentials
		if !one.REST() {
			grpc = append(grpc, c.variable(one.name))
		}
	}
	if unused != "" && !downloaded && c.ClientMode != saas {
		names := strings.Join(grpc, " and ")
		c.warn("%s and %s are set: gRPC is used, at %s; remove %s to use REST", names, unused, used, names)
	}
}

// checkScheme reports a scheme that contradicts ZEEBE_INSECURE_CONNECTION.
func (c *Config) checkScheme(address Address, name string, f *faults) {
	const insecure = "ZEEBE_INSECURE_CONNECTION"
	switch variable := c.variable(insecure); {
	case !c.isSet(insecure) || address.Plaintext() == c.ZeebeInsecure:
	case c.origins[name].source == FromDerived:
		f.addOf(name, variable, "is true, but Camunda's SaaS, which %s stands for, takes TLS only; remove one of the two", c.variable(name))
	default:
		f.addOf(name, c.variable(name), "is an address for %s, but %s is %t; remove one of the two", address.Transport(), variable, c.ZeebeInsecure)
	}
}

// addAddress reports an address that cannot be used. Its text is repeated only where no password can be in it.
func (f *faults) addAddress(one namedAddress) {
	text := one.text
	if strings.ContainsAny(text, unsafeInFaults) {
		text = mask
	}
	if errors.Is(one.err, errNoAddress) {
		f.addValue(one.name, text)
		return
	}
	f.add(one.name, "is %q, which %v; allowed: %s", shortened(text), one.err, allowed(one.name))
}

// plaintextBy returns what turns TLS off, as the subject of a sentence; empty with TLS.
func (c *Config) plaintextBy() string {
	address, name := c.chosen()
	switch {
	case !address.Plaintext():
		return ""
	case c.ZeebeInsecure:
		return c.variable("ZEEBE_INSECURE_CONNECTION")
	}
	return c.variable(name)
}

// exposes reports whether what is sent to the cluster can be read on its way.
func (c *Config) exposes() bool {
	address := c.Address()
	return address.Plaintext() && !connurl.IsLoopback(address.Host())
}

func (c *Config) checkCertificates(f *faults) {
	files := []struct{ name, path string }{
		{"ZEEBE_CA_CERTIFICATE_PATH", c.ZeebeCACertificate},
		{"ZEEBE_CLIENT_CERTIFICATE_PATH", c.ZeebeClientCertificate},
		{"ZEEBE_CLIENT_KEY_PATH", c.ZeebeClientKey},
	}
	for _, file := range files {
		switch by := c.plaintextBy(); {
		case file.path == "":
		case by != "" && c.ZeebeInsecure:
			f.add(file.name, "has no effect with %s=true; remove one of the two", by)
		case by != "":
			f.add(file.name, "has no effect with the plaintext address of %s; remove one of the two", by)
		default:
			f.checkFile(file.name, file.path)
		}
	}
	c.warnExposedKey(c.variable("ZEEBE_CLIENT_KEY_PATH"), c.ZeebeClientKey)
	f.checkPair("ZEEBE_CLIENT_CERTIFICATE_PATH", c.ZeebeClientCertificate, "ZEEBE_CLIENT_KEY_PATH", c.ZeebeClientKey)
}

// ClientMode is whether the cluster is one of Camunda's SaaS: empty, saas or self-managed.
type ClientMode string

const saas ClientMode = "saas"

// Decode implements [envconfig.Decoder].
func (m *ClientMode) Decode(text string) error {
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(text)) {
	case "":
	case "saas":
		*m = saas
	case "selfmanaged":
		*m = "self-managed"
	default:
		return errors.New("no such mode")
	}
	return nil
}

var cloudName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

// What Camunda's SaaS has in every region.
const (
	cloudDomain   = "zeebe.camunda.io"
	cloudTokenURL = "https://login.cloud.camunda.io/oauth/token"
)

// derive fills what follows from other settings: the default address gives way to one that is set, and a cluster of Camunda's
// SaaS has its address, token endpoint and audience from its id and region.
func (c *Config) derive(f *faults) {
	const mode, id, region = "CAMUNDA_CLIENT_MODE", "CAMUNDA_CLIENT_CLOUD_CLUSTERID", "CAMUNDA_CLIENT_CLOUD_REGION"
	given := c.isSet(anyAddress) || c.isSet(grpcAddress) || c.isSet(restAddress)
	if given && !c.isSet(anyAddress) {
		c.ZeebeAddress = ""
	}
	f.require(c.CloudClusterID == "" || cloudName.MatchString(c.CloudClusterID), id, c.CloudClusterID)
	f.require(c.CloudRegion == "" || cloudName.MatchString(c.CloudRegion), region, c.CloudRegion)
	if c.ClientMode == saas {
		for _, needed := range []struct{ name, value string }{{id, c.CloudClusterID}, {region, c.CloudRegion}} {
			if needed.value == "" {
				f.add(needed.name, "is missing; %s=saas needs it", c.variable(mode))
			}
		}
	}
	if c.CloudClusterID == "" || c.CloudRegion == "" || f.seen[id] || f.seen[region] || c.ClientMode != saas && (given || c.ClientMode != "") {
		return
	}
	host := c.CloudClusterID + "." + c.CloudRegion + "." + cloudDomain
	if !given {
		c.ZeebeAddress = "grpcs://" + host + ":443"
		c.origins[anyAddress] = origin{FromDerived, c.variable(id)}
	} else if other := c.Address(); other.Host() != "" && !strings.EqualFold(other.Host(), host) &&
		!strings.EqualFold(other.Host()+other.Path, c.CloudRegion+"."+cloudDomain+"/"+c.CloudClusterID) { // REST
		f.add(mode, "is saas, but %s names another cluster than %s; remove one of the two", c.AddressVariable(), host)
	}
	if name, _ := c.credential(AuthBasic); name != "" || c.Authentication == AuthBasic || c.Authentication == AuthNone {
		return // checkAuthentication refuses it
	}
	for _, one := range []struct {
		name, value string
		into        *string
	}{{"ZEEBE_AUTHORIZATION_SERVER_URL", cloudTokenURL, &c.ZeebeAuthorizationURL}, {"ZEEBE_TOKEN_AUDIENCE", cloudDomain, &c.ZeebeTokenAudience}} {
		if *one.into == "" {
			*one.into = one.value
			c.origins[one.name] = origin{FromDerived, c.variable(id)}
		}
	}
}

// warn adds a warning.
func (c *Config) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}
