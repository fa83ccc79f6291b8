package input

import (
	"encoding/json"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/redact"
)

// Template names the element template that a task was made with, as the task's headers have it, cut to 100 bytes each. It is
// only logged: whether it is true is not checked, and no decision depends on it.
type Template struct{ ID, Version string }

const maxTemplate = 100

func templateOf(headers map[string]string) Template {
	return Template{
		ID:      redact.Cut(headers[contract.HeaderTemplateID], maxTemplate),
		Version: redact.Cut(headers[contract.HeaderTemplateVersion], maxTemplate),
	}
}

// outcomeTemplate reads the template of an outcome job, whose headers are not read otherwise. If they cannot be read there is
// none.
func outcomeTemplate(j *job.Job) Template {
	var headers map[string]string
	if j.Headers == "" || json.Unmarshal([]byte(j.Headers), &headers) != nil {
		return Template{}
	}
	return templateOf(headers)
}
