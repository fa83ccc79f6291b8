package gatewaytest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// values is an object of JSON.
type values map[string]any

// writeResult answers a call that succeeded.
func writeResult(w http.ResponseWriter, response any) {
	var body values
	switch r := response.(type) {
	case []*pb.ActivatedJob:
		body = jobsToREST(r)
	case *pb.TopologyResponse:
		body = topologyToREST(r)
	case *pb.DeployResourceResponse:
		body = deploymentToREST(r)
	case *pb.PublishMessageResponse:
		body = values{"tenantId": r.TenantId, "messageKey": key(r.Key)}
	default: // an answer to a job
		w.WriteHeader(http.StatusNoContent)
		return
	}
	writeJSON(w, http.StatusOK, "application/json", body)
}

func writeJSON(w http.ResponseWriter, httpStatus int, kind string, body values) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		panic(err) // a fault of this package
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(httpStatus)
	_, _ = w.Write(text.Bytes())
}

// key returns a key as the API writes it.
func key(key int64) string { return strconv.FormatInt(key, 10) }

func jobsToREST(jobs []*pb.ActivatedJob) values {
	all := []values{}
	for _, j := range jobs {
		all = append(all, values{
			"type": j.Type, "processDefinitionId": j.BpmnProcessId, "processDefinitionVersion": j.ProcessDefinitionVersion,
			"elementId": j.ElementId, "customHeaders": document(j.CustomHeaders), "worker": j.Worker, "retries": j.Retries,
			"deadline": j.Deadline, "variables": document(j.Variables), "tenantId": j.TenantId, "jobKey": key(j.Key),
			"processInstanceKey": key(j.ProcessInstanceKey), "processDefinitionKey": key(j.ProcessDefinitionKey),
			"elementInstanceKey": key(j.ElementInstanceKey), "kind": "BPMN_ELEMENT", "listenerEventType": "UNSPECIFIED", "tags": []string{},
		})
	}
	return values{"jobs": all}
}

// document returns a text of JSON as a part of the answer, and any other text as a string.
func document(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}

func topologyToREST(t *pb.TopologyResponse) values {
	brokers := []values{}
	for _, b := range t.Brokers {
		partitions := []values{}
		for _, p := range b.Partitions {
			partitions = append(partitions, values{
				"partitionId": p.PartitionId, "role": strings.ToLower(p.Role.String()), "health": strings.ToLower(p.Health.String()),
			})
		}
		brokers = append(brokers, values{"nodeId": b.NodeId, "host": b.Host, "port": b.Port, "partitions": partitions, "version": b.Version})
	}
	return values{
		"brokers": brokers, "clusterSize": t.ClusterSize, "partitionsCount": t.PartitionsCount, "replicationFactor": t.ReplicationFactor,
		"gatewayVersion": t.GatewayVersion, "lastCompletedChangeId": "-1",
	}
}

func deploymentToREST(d *pb.DeployResourceResponse) values {
	all := []values{}
	for _, one := range d.Deployments {
		if f := one.GetForm(); f != nil {
			all = append(all, values{"form": values{
				"formId": f.FormId, "version": f.Version, "resourceName": f.ResourceName, "formKey": key(f.FormKey), "tenantId": f.TenantId,
			}})
			continue
		}
		p := one.GetProcess()
		all = append(all, values{"processDefinition": values{
			"processDefinitionId": p.BpmnProcessId, "processDefinitionVersion": p.Version, "resourceName": p.ResourceName,
			"processDefinitionKey": key(p.ProcessDefinitionKey), "tenantId": p.TenantId,
		}})
	}
	return values{"deploymentKey": key(d.Key), "tenantId": d.TenantId, "deployments": all}
}

// problems are the status and the title by which the API reports each status code.
var problems = map[codes.Code]struct {
	status int
	title  string
}{
	codes.InvalidArgument:    {http.StatusBadRequest, "INVALID_ARGUMENT"},
	codes.Unauthenticated:    {http.StatusUnauthorized, "Unauthorized"},
	codes.PermissionDenied:   {http.StatusForbidden, "FORBIDDEN"},
	codes.NotFound:           {http.StatusNotFound, "NOT_FOUND"},
	codes.FailedPrecondition: {http.StatusConflict, "INVALID_STATE"},
	codes.AlreadyExists:      {http.StatusConflict, "ALREADY_EXISTS"},
	codes.Unknown:            {http.StatusInternalServerError, "UNKNOWN"},
	codes.Internal:           {http.StatusInternalServerError, "INTERNAL"},
	codes.Aborted:            {http.StatusBadGateway, "ABORTED"},
	codes.ResourceExhausted:  {http.StatusServiceUnavailable, "RESOURCE_EXHAUSTED"},
	codes.Unavailable:        {http.StatusServiceUnavailable, "UNAVAILABLE"},
	codes.DeadlineExceeded:   {http.StatusGatewayTimeout, "DEADLINE_EXCEEDED"},
}

func writeError(w http.ResponseWriter, r *http.Request, err error) {
	p, ok := problems[status.Code(err)]
	if !ok {
		p = problems[codes.Internal]
	}
	text := status.Convert(err).Message()
	if status.Code(err) == codes.PermissionDenied && strings.Contains(text, "not authorized") { // for a tenant
		p.status, p.title = http.StatusUnauthorized, "UNAUTHORIZED"
	}
	writeProblem(w, r, p.status, p.title, text)
}

func writeProblem(w http.ResponseWriter, r *http.Request, httpStatus int, title, detail string) {
	writeJSON(w, httpStatus, "application/problem+json", values{
		"type": "about:blank", "title": title, "status": httpStatus, "detail": detail, "instance": r.URL.Path,
	})
}
