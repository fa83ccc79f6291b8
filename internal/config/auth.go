package config

import (
	"errors"
	"net/url"
	"strings"

	"hospital.example/analyze-retry/internal/connurl"
)

// AuthStrategy is how the worker authenticates to the cluster.
type AuthStrategy string

// The strategies.
const (
	AuthNone  AuthStrategy = "NONE"
	AuthBasic AuthStrategy = "BASIC"
	AuthOIDC  AuthStrategy = "OIDC" // OAuth client credentials
)

// Decode implements [envconfig.Decoder]. An empty text leaves the choice to the credentials.
func (s *AuthStrategy) Decode(text string) error {
	switch upper := strings.ToUpper(text); upper {
	case "", "NONE", "BASIC", "OIDC":
		*s = AuthStrategy(upper)
	case "OAUTH", "OAUTH2":
		*s = AuthOIDC
	default:
		return errors.New("no such strategy")
	}
	return nil
}

// AuthStrategy returns how the worker authenticates: as it is set, or else by what credentials there are.
func (c *Config) AuthStrategy() AuthStrategy {
	if c.Authentication != "" {
		return c.Authentication
	}
	for _, strategy := range []AuthStrategy{AuthBasic, AuthOIDC} {
		if name, _ := c.credential(strategy); name != "" {
			return strategy
		}
	}
	return AuthNone
}

// AuthVariable returns the variable that [Config.AuthStrategy] follows from; empty if none is set.
func (c *Config) AuthVariable() string {
	if c.Authentication != "" {
		return c.variable("CAMUNDA_AUTH_STRATEGY")
	}
	_, variable := c.credential(c.AuthStrategy())
	return variable
}

// credentialSetting is a setting that belongs to a strategy.
type credentialSetting struct{ name, value string }

// credentials returns the settings of a strategy.
func (c *Config) credentials(strategy AuthStrategy) []credentialSetting {
	switch strategy {
	case AuthBasic:
		return []credentialSetting{{"CAMUNDA_BASIC_AUTH_USERNAME", c.BasicUser}, {"CAMUNDA_BASIC_AUTH_PASSWORD", string(c.BasicPassword)}}
	case AuthOIDC:
		return []credentialSetting{
			{"ZEEBE_CLIENT_ID", c.ZeebeClientID},
			{"ZEEBE_CLIENT_SECRET", string(c.ZeebeClientSecret)},
			{"ZEEBE_AUTHORIZATION_SERVER_URL", c.ZeebeAuthorizationURL},
			{"ZEEBE_TOKEN_AUDIENCE", c.ZeebeTokenAudience},
			{"ZEEBE_TOKEN_SCOPE", c.ZeebeTokenScope},
		}
	case AuthNone:
	}
	return nil
}

// credential returns the first setting of a strategy that is set, and the variable that it was read from; empty for none.
func (c *Config) credential(strategy AuthStrategy) (name, variable string) {
	for _, one := range c.credentials(strategy) {
		if one.value != "" {
			return one.name, c.variable(one.name)
		}
	}
	return "", ""
}

// checkAuthentication reports credentials that contradict the strategy or are incomplete, and those that would be sent in
// plaintext.
func (c *Config) checkAuthentication(f *faults) {
	const setting = "CAMUNDA_AUTH_STRATEGY"
	strategy := c.AuthStrategy()
	cloud := c.origins[anyAddress].source == FromDerived || c.ClientMode == saas
	if cloud && strategy != AuthOIDC && c.Authentication != "" {
		f.add(setting, "is %s, but Camunda's SaaS, which %s stands for, takes OIDC only", strategy, c.cloudVariable())
	}
	for _, other := range []AuthStrategy{AuthBasic, AuthOIDC} {
		name, variable := c.credential(other)
		switch {
		case other == strategy || name == "":
		case c.Authentication != "":
			f.add(setting, "is %s, but %s is set, which is for %s; remove one of the two", strategy, variable, other)
		default:
			_, first := c.credential(strategy)
			f.add(setting, "is not set, but %s is for %s and %s is for %s; remove one of the two", first, strategy, variable, other)
		}
	}
	switch strategy {
	case AuthBasic:
		if cloud && c.Authentication == "" {
			_, variable := c.credential(AuthBasic)
			f.add(setting, "is not set, but %s is for BASIC, and Camunda's SaaS, which %s stands for, takes OIDC only", variable, c.cloudVariable())
		}
		c.checkBasic(f)
	case AuthOIDC:
		c.checkOAuth(f)
	case AuthNone:
	}
}

// cloudVariable returns the variable by which the cluster is one of SaaS.
func (c *Config) cloudVariable() string {
	if c.ClientMode == saas {
		return "CAMUNDA_CLIENT_MODE"
	}
	return c.variable("CAMUNDA_CLIENT_CLOUD_CLUSTERID")
}

func (c *Config) checkBasic(f *faults) {
	for _, one := range c.credentials(AuthBasic) {
		if one.value == "" {
			f.add(one.name, "is missing; BASIC needs a user name and a password")
		}
	}
	if !isText(c.BasicUser, 256) || strings.Contains(c.BasicUser, ":") {
		f.addValue("CAMUNDA_BASIC_AUTH_USERNAME", mask) // a password may follow the colon
	}
	c.checkPlaintext("the password", f)
}

func (c *Config) checkOAuth(f *faults) {
	for _, one := range c.credentials(AuthOIDC) {
		optional := one.name == "ZEEBE_TOKEN_SCOPE" || one.name == "ZEEBE_TOKEN_AUDIENCE" && c.ZeebeTokenScope != ""
		if one.value == "" && !optional {
			f.add(one.name, "is missing; OAuth needs client id, secret, authorization server, and an audience or a scope")
		}
	}
	if c.ZeebeAuthorizationURL != "" {
		c.checkTokenURL(f)
	}
	if c.ZeebeClientID != "" {
		c.checkPlaintext("the OAuth token", f)
	}
}

// checkPlaintext refuses to send what is secret in plaintext to another host, unless that is accepted.
func (c *Config) checkPlaintext(what string, f *faults) {
	address, name := c.chosen()
	switch {
	case !c.exposes():
	case c.AllowInsecureToken:
		c.warn("RETRY_ALLOW_INSECURE_TOKEN is true: %s is sent to %s in plaintext, and every host on the way can read it", what, address)
	case c.ZeebeInsecure:
		f.add("ZEEBE_INSECURE_CONNECTION", "is true, which would send %s in plaintext to %s; use TLS, or a gateway on this host, or accept it "+
			"with RETRY_ALLOW_INSECURE_TOKEN=true", what, address.Host())
	default:
		f.add(name, "is an address without TLS, which would send %s in plaintext to %s; use TLS, or a gateway on this host, or accept it "+
			"with RETRY_ALLOW_INSECURE_TOKEN=true", what, address.Host())
	}
}

func (c *Config) checkTokenURL(f *faults) {
	const name = "ZEEBE_AUTHORIZATION_SERVER_URL"
	text := c.ZeebeAuthorizationURL
	parts, err := connurl.Parse(text)
	switch {
	case parts.Scheme != "https" && parts.Scheme != "http":
		f.addValue(name, mask)
	case err == nil && (len(parts.Hosts) != 1 || parts.HasUser):
		err = errors.New("names not just one host without user and password")
	}
	if err != nil {
		f.addURL(name, parts.Scheme, err)
		return
	}
	if u, err := url.Parse(text); parts.Scheme == "https" || err == nil && connurl.IsLoopback(u.Hostname()) || f.seen[name] {
		return
	}
	if c.AllowInsecureToken {
		c.warn("RETRY_ALLOW_INSECURE_TOKEN is true: the client secret is sent to %s://%s in plaintext, and every host on the way can read it", parts.Scheme, parts.Hosts[0])
		return
	}
	f.add(name, "begins with http:// but names another host, which would send the client secret in plaintext; use https, or accept it with "+
		"RETRY_ALLOW_INSECURE_TOKEN=true")
}
