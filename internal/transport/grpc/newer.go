package grpc

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// activateTenantFilter is a field of gateways since 8.9. The Go module, which ended with 8.5, has no name for it, so it travels
// as an unknown field. Gateways that do not know it skip it.
const activateTenantFilter protowire.Number = 8

// tenantFilterAssigned asks for the jobs of the tenants that the cluster has assigned to the credentials.
const tenantFilterAssigned = 1

// setNumber adds a field to a message.
func setNumber(m proto.Message, field protowire.Number, value uint64) {
	r := m.ProtoReflect()
	r.SetUnknown(protowire.AppendVarint(protowire.AppendTag(r.GetUnknown(), field, protowire.VarintType), value))
}
