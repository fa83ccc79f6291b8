package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// DefaultTenant is the tenant of a cluster without multi-tenancy.
const DefaultTenant = "<default>"

// Tenants are the tenants whose jobs are worked. The zero value is the default tenant alone.
type Tenants struct {
	ids      []string
	assigned bool
}

// IDs returns the tenants' ids in their order, at least one and each once; nil if [Tenants.Assigned].
func (t Tenants) IDs() []string {
	switch {
	case t.assigned:
		return nil
	case len(t.ids) == 0:
		return []string{DefaultTenant}
	}
	return slices.Clone(t.ids)
}

// Assigned reports whether the cluster chooses: all tenants that the credentials are assigned to (8.9 and later).
func (t Tenants) Assigned() bool { return t.assigned }

// assignedTenants is the notation for them, which is therefore no tenant's id here, in whatever case: a worker for a tenant
// called assigned would get no job where all tenants were meant.
const assignedTenants = "ASSIGNED"

// tenantID is what Zeebe takes for a tenant's id.
var tenantID = regexp.MustCompile(`^(?:<default>|[A-Za-z0-9_.-]{1,31})$`)

// Decode implements [envconfig.Decoder].
func (t *Tenants) Decode(text string) error {
	if text == assignedTenants {
		*t = Tenants{assigned: true}
		return nil
	}
	var ids []string
	for id := range strings.SplitSeq(text, ",") {
		id = strings.TrimSpace(id)
		if !tenantID.MatchString(id) || strings.EqualFold(id, assignedTenants) || slices.Contains(ids, id) {
			return errors.New("no tenant's id, or one that stands twice")
		}
		ids = append(ids, id)
	}
	*t = Tenants{ids: ids}
	return nil
}

// String returns the notation that Decode reads.
func (t Tenants) String() string {
	if t.assigned {
		return assignedTenants
	}
	return strings.Join(t.IDs(), ",")
}

// Tenant returns the tenant to deploy to and to send messages to: CAMUNDA_DEFAULT_TENANT_ID, or else the one that
// RETRY_TENANTS names. Its error is a [FaultsError]: several are named, or none.
func (c *Config) Tenant() (string, error) {
	ids := c.Tenants.IDs()
	switch {
	case c.DefaultTenant != "":
		return c.DefaultTenant, nil
	case len(ids) == 1:
		return ids[0], nil
	}
	return "", FaultsError{fmt.Sprintf("CAMUNDA_DEFAULT_TENANT_ID is missing; %s is %s, so it is not known which tenant is meant", c.variable("RETRY_TENANTS"), c.Tenants)}
}

func (c *Config) checkTenants(f *faults) {
	const name = "CAMUNDA_DEFAULT_TENANT_ID"
	f.require(c.DefaultTenant == "" || tenantID.MatchString(c.DefaultTenant), name, c.DefaultTenant)
	if c.DefaultTenant != "" && !c.Tenants.Assigned() && !slices.Contains(c.Tenants.IDs(), c.DefaultTenant) {
		c.warn("%s is %s, but the jobs of that tenant are not worked; add it to RETRY_TENANTS", c.variable(name), c.DefaultTenant)
	}
}
