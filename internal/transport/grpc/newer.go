package grpc

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Fields of newer gateways that the Go module, which ended with 8.5, has no names for. They travel as fields that a
// message's generated type does not know: gateways that do not know them either skip them.
const (
	activateTenantFilter protowire.Number = 8 // since 8.9
	activateWithLease    protowire.Number = 9 // since 8.10, as all leases
	activatedJobLease    protowire.Number = 21
	completeJobLease     protowire.Number = 4
	failJobLease         protowire.Number = 6
	throwErrorLease      protowire.Number = 5
)

// tenantFilterAssigned asks for the jobs of the tenants that the cluster has assigned to the credentials.
const tenantFilterAssigned = 1

// setNumber adds a field to a message; a truth is 1.
func setNumber(m proto.Message, field protowire.Number, value uint64) {
	r := m.ProtoReflect()
	r.SetUnknown(protowire.AppendVarint(protowire.AppendTag(r.GetUnknown(), field, protowire.VarintType), value))
}

// setText adds a field to a message, unless the text is empty.
func setText(m proto.Message, field protowire.Number, value string) {
	if value == "" {
		return
	}
	r := m.ProtoReflect()
	r.SetUnknown(protowire.AppendString(protowire.AppendTag(r.GetUnknown(), field, protowire.BytesType), value))
}

// textOf returns a field of a message, empty where it is absent.
func textOf(m proto.Message, field protowire.Number) (value string) {
	for rest := m.ProtoReflect().GetUnknown(); len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return value
		}
		rest = rest[n:]
		if number == field && kind == protowire.BytesType {
			if text, n := protowire.ConsumeString(rest); n >= 0 {
				value = text // the last one counts
			}
		}
		if n = protowire.ConsumeFieldValue(number, kind, rest); n < 0 {
			return value
		}
		rest = rest[n:]
	}
	return value
}
