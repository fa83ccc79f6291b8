package rest

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/transport"
)

// activation is a poll. Gateways refuse properties that they do not know.
type activation struct {
	Type           string   `json:"type"`
	Worker         string   `json:"worker"`
	Timeout        int64    `json:"timeout"`
	Max            int      `json:"maxJobsToActivate"`
	FetchVariable  []string `json:"fetchVariable,omitempty"`
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

// document is a part of an answer, as it came.
type document string

// UnmarshalJSON implements [json.Unmarshaler].
func (d *document) UnmarshalJSON(text []byte) error {
	*d = document(job.Text(string(text)))
	return nil
}

// number reads a key, which the API writes as a string of digits. What is no key is 0, that of nothing.
func number(key string) int64 {
	n, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

type activatedJob struct {
	Key                string   `json:"jobKey"`
	Type               string   `json:"type"`
	ProcessInstanceKey string   `json:"processInstanceKey"`
	ProcessID          string   `json:"processDefinitionId"`
	ElementID          string   `json:"elementId"`
	Retries            int32    `json:"retries"`
	Headers            document `json:"customHeaders"`
	Variables          document `json:"variables"`
	TenantID           string   `json:"tenantId"`
	Deadline           int64    `json:"deadline"`
}

func (a activatedJob) fromWire() job.Job {
	return job.Job{
		Key:                number(a.Key),
		Type:               a.Type,
		Tenant:             a.TenantID,
		ProcessInstanceKey: number(a.ProcessInstanceKey),
		ProcessID:          a.ProcessID,
		ElementID:          a.ElementID,
		Retries:            a.Retries,
		Headers:            string(a.Headers),
		Variables:          string(a.Variables),
		Deadline:           a.Deadline,
		Received:           time.Now(),
	}
}

// errForm is JSON that is not what the API answers.
var errForm = errors.New("the answer is JSON, but not that of Camunda's REST API")

// decode returns a function that reads an answer of JSON; whole reports whether it has what the API always sends.
func decode(answer any, whole func() bool) func(io.Reader) error {
	return func(r io.Reader) error {
		err := json.NewDecoder(r).Decode(answer)
		if err == nil && !whole() {
			return errForm
		}
		return err
	}
}

// readJobs reads a poll's answer job by job, so that those before a fault in it are not lost, and up to the first job more than
// asked for. What cannot be read of a job is empty, as if the gateway had not sent it: one odd job is no reason to lose those
// that are locked with it.
func readJobs(r io.Reader, asked int) (jobs []job.Job, err error) {
	d := json.NewDecoder(r)
	for token := json.Token(nil); token != "jobs"; {
		token, err = d.Token()
		if errors.Is(err, io.EOF) {
			return nil, errForm
		}
		if err != nil {
			return nil, err
		}
	}
	if list, _ := d.Token(); list != json.Delim('[') {
		return nil, errForm
	}
	for len(jobs) <= asked && d.More() {
		var a activatedJob
		err := d.Decode(&a) // reads on after a value of the wrong type
		if _, odd := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !odd {
			return jobs, err
		}
		jobs = append(jobs, a.fromWire())
	}
	if len(jobs) <= asked {
		_, err = d.Token() // the end of the list
	}
	return jobs, err
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
			Key      string `json:"processDefinitionKey"`
		} `json:"processDefinition"` // nil for what is no process
		Form *struct {
			ID       string `json:"formId"`
			Version  int32  `json:"version"`
			Resource string `json:"resourceName"`
			Key      string `json:"formKey"`
		} `json:"form"` // nil for what is no form
	} `json:"deployments"`
}

func (d deployment) fromWire() (deployed []transport.Deployed) {
	for _, one := range d.Deployments {
		if p := one.Process; p != nil {
			deployed = append(deployed, transport.Deployed{ID: p.ID, Resource: p.Resource, Version: p.Version, Key: number(p.Key)})
		}
		if f := one.Form; f != nil {
			deployed = append(deployed, transport.Deployed{
				ID: f.ID, Resource: f.Resource, Form: true, Version: f.Version, Key: number(f.Key),
			})
		}
	}
	return deployed
}
