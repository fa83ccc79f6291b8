package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/transport"
)

// The requests. Gateways refuse properties that they do not know, so a newer one is sent only where it is needed.

type activation struct {
	Type           string   `json:"type"`
	Worker         string   `json:"worker"`
	Timeout        int64    `json:"timeout"`
	Max            int      `json:"maxJobsToActivate"`
	FetchVariable  []string `json:"fetchVariable,omitempty"`
	RequestTimeout int64    `json:"requestTimeout"`
	TenantIDs      []string `json:"tenantIds"`
}

type completion struct {
	Variables json.RawMessage `json:"variables,omitempty"`
}

type bpmnError struct {
	Code      string          `json:"errorCode"`
	Message   string          `json:"errorMessage"`
	Variables json.RawMessage `json:"variables,omitempty"`
}

type failure struct {
	Retries int32  `json:"retries"`
	Message string `json:"errorMessage"`
}

type update struct {
	Changeset struct {
		Timeout int64 `json:"timeout"`
	} `json:"changeset"`
}

type publication struct {
	Name           string          `json:"name"`
	CorrelationKey string          `json:"correlationKey"`
	MessageID      string          `json:"messageId,omitempty"`
	Variables      json.RawMessage `json:"variables,omitempty"`
	TenantID       string          `json:"tenantId,omitempty"`
}

// The answers.

// key is a key as the API writes it, a string of digits. What is no key reads as 0, which is that of nothing: an error would
// end the reading of the object that it stands in.
type key int64

// UnmarshalJSON implements [json.Unmarshaler].
func (k *key) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 64)
	if err != nil {
		n = 0 // ParseInt returns the nearest number for one out of range
	}
	*k = key(n)
	return nil
}

type activatedJob struct {
	Key                key             `json:"jobKey"`
	Type               string          `json:"type"`
	ProcessInstanceKey key             `json:"processInstanceKey"`
	ProcessID          string          `json:"processDefinitionId"`
	ElementID          string          `json:"elementId"`
	Retries            int32           `json:"retries"`
	Headers            json.RawMessage `json:"customHeaders"`
	Variables          json.RawMessage `json:"variables"`
	TenantID           string          `json:"tenantId"`
	Deadline           int64           `json:"deadline"`
}

// fromWire returns a job of a poll's answer. What cannot be read of it is empty, as if the gateway had not sent it: one
// odd job is no reason to lose those that are locked with it.
func fromWire(raw json.RawMessage) job.Job {
	var a activatedJob
	_ = json.Unmarshal(raw, &a) // reads on after a value of the wrong type
	return job.Job{
		Key:                int64(a.Key),
		Type:               a.Type,
		Tenant:             a.TenantID,
		ProcessInstanceKey: int64(a.ProcessInstanceKey),
		ProcessID:          a.ProcessID,
		ElementID:          a.ElementID,
		Retries:            a.Retries,
		Headers:            transport.Text(string(a.Headers)),
		Variables:          transport.Text(string(a.Variables)),
		Deadline:           a.Deadline,
		Received:           time.Now(),
	}
}

// errForm is JSON that is not what the API answers.
var errForm = errors.New("the answer is JSON, but not that of Camunda's REST API")

// readJobs reads a poll's answer job by job, so that those before a fault in it are not lost.
func readJobs(r io.Reader) (jobs []job.Job, err error) {
	d := json.NewDecoder(r)
	if err := expect(d, '{'); err != nil {
		return nil, err
	}
	found := false
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return jobs, err
		}
		if name != "jobs" {
			if err := d.Decode(new(json.RawMessage)); err != nil {
				return jobs, err
			}
			continue
		}
		found = true
		if err := expect(d, '['); err != nil {
			return jobs, err
		}
		for d.More() {
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				return jobs, err
			}
			jobs = append(jobs, fromWire(raw))
		}
		if err := expect(d, ']'); err != nil {
			return jobs, err
		}
	}
	if err := expect(d, '}'); err != nil {
		return jobs, err
	}
	if !found {
		return nil, errForm
	}
	return jobs, nil
}

func expect(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err == nil && token != want {
		err = fmt.Errorf("%w: it has no %v where one is due", errForm, want)
	}
	return err
}

type topology struct {
	Brokers []struct {
		Partitions []struct {
			ID     int32  `json:"partitionId"`
			Role   string `json:"role"`
			Health string `json:"health"`
		} `json:"partitions"`
	} `json:"brokers"`
	Partitions *int   `json:"partitionsCount"`
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
	return transport.Topology{Version: t.Version, Partitions: *t.Partitions, Led: len(led)}
}

type deployment struct {
	Deployments []struct {
		Process *struct {
			ID       string `json:"processDefinitionId"`
			Version  int32  `json:"processDefinitionVersion"`
			Resource string `json:"resourceName"`
			Key      key    `json:"processDefinitionKey"`
		} `json:"processDefinition"` // nil for what is no process
		Form *struct {
			ID       string `json:"formId"`
			Version  int32  `json:"version"`
			Resource string `json:"resourceName"`
			Key      key    `json:"formKey"`
		} `json:"form"` // nil for what is no form
	} `json:"deployments"`
}
