package rest

import (
	"encoding/json"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
)

// activation is a poll. Gateways refuse properties that they do not know.
type activation struct {
	transport.Poll
	Timeout        int64    `json:"timeout"`
	RequestTimeout int64    `json:"requestTimeout"`
	TenantIDs      []string `json:"tenantIds"`
}

// answer is the body of each answer to a job, which differ in what they leave out.
type answer struct {
	Retries   *int32          `json:"retries,omitempty"`
	Code      string          `json:"errorCode,omitempty"`
	Message   string          `json:"errorMessage,omitempty"`
	Variables json.RawMessage `json:"variables,omitempty"`
}

// activatedJob is a job with its documents as they came.
type activatedJob struct {
	job.Job
	Headers   json.RawMessage `json:"customHeaders"`
	Variables json.RawMessage `json:"variables"`
}

type topology struct {
	Brokers []struct {
		Partitions []struct {
			ID     int32  `json:"partitionId"`
			Role   string `json:"role"`
			Health string `json:"health"`
		} `json:"partitions"`
	} `json:"brokers"`
	Partitions int    `json:"partitionsCount"`
	Version    string `json:"gatewayVersion"`
}

func (t topology) fromWire() transport.Topology {
	led := map[int32]bool{}
	for _, broker := range t.Brokers {
		for _, p := range broker.Partitions {
			if p.Role == "leader" && p.Health == "healthy" {
				led[p.ID] = true
			}
		}
	}
	return transport.Topology{Version: t.Version, Partitions: t.Partitions, Led: len(led)}
}

type deployment struct {
	Deployments []struct {
		Process *struct {
			ID       string `json:"processDefinitionId"`
			Version  int32  `json:"processDefinitionVersion"`
			Key      int64  `json:"processDefinitionKey,string"`
			Resource string `json:"resourceName"`
		} `json:"processDefinition"` // nil for what is no process
		Form *struct {
			ID       string `json:"formId"`
			Version  int32  `json:"version"`
			Key      int64  `json:"formKey,string"`
			Resource string `json:"resourceName"`
		} `json:"form"` // nil for what is no form
	} `json:"deployments"`
}

func (d deployment) fromWire() (deployed []transport.Deployed) {
	for _, one := range d.Deployments {
		if one.Process != nil {
			deployed = append(deployed, transport.Deployed(*one.Process))
		}
		if one.Form != nil {
			deployed = append(deployed, transport.Deployed(*one.Form))
		}
	}
	return deployed
}
