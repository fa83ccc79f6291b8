package gatewaytest

import (
	"fmt"
	"slices"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// The fields of Camunda 8.9 and 8.10 for which the generated types have no names.
const (
	activateTenantFilter protowire.Number = 8
	activateWithLease    protowire.Number = 9
	activatedJobLease    protowire.Number = 21
	completeJobLease     protowire.Number = 4
	failJobLease         protowire.Number = 6
	throwErrorLease      protowire.Number = 5
)

// Lease makes the brokers of these partitions, which count from 1, give leases as those of Camunda 8.10 do: an answer without
// the token of the last activation is refused, and a job that had one goes only to workers that ask for leases.
func (g *Gateway) Lease(partitions ...int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leasing = partitions
}

// serves reports whether a poll may get a job. The caller holds the mutex.
func (g *Gateway) serves(j *record, r *pb.ActivateJobsRequest) bool {
	if j.lease != "" && numberOf(r, activateWithLease) == 0 {
		return false
	}
	switch {
	case numberOf(r, activateTenantFilter) == 1:
		return slices.Contains(g.assigned, j.Tenant)
	case g.assigned == nil:
		return true
	default:
		return slices.Contains(r.TenantIds, j.Tenant)
	}
}

// lease gives a job a new lease, if its broker knows them and the worker asks for one. The caller holds the mutex.
func (g *Gateway) lease(j *record, r *pb.ActivateJobsRequest) {
	if slices.Contains(g.leasing, int(j.Key>>partitionBits)) && numberOf(r, activateWithLease) == 1 {
		g.leases++
		j.lease = fmt.Sprintf("lease-%d", g.leases)
	}
}

// Take gives a job to another worker, with a new lease, for as long as its lock lasts.
func (g *Gateway) Take(key int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leases++
	g.jobs[key].lease = fmt.Sprintf("lease-%d", g.leases)
}

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

// unknown returns the raw value of a field, nil where it is absent.
func unknown(m proto.Message, field protowire.Number) (value []byte) {
	for rest := m.ProtoReflect().GetUnknown(); len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		size := protowire.ConsumeFieldValue(number, kind, rest[n:])
		if number == field {
			value = rest[n : n+size]
		}
		rest = rest[n+size:]
	}
	return value
}

func textOf(m proto.Message, field protowire.Number) string {
	text, _ := protowire.ConsumeString(unknown(m, field))
	return text
}

func numberOf(m proto.Message, field protowire.Number) uint64 {
	number, n := protowire.ConsumeVarint(unknown(m, field))
	if n < 0 {
		return 0
	}
	return number
}
