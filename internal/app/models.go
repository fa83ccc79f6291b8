package app

import (
	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/text"
)

// LintModels returns the findings about models under the job types and policies of a worker. The models may call the bundled
// ones.
func LintModels(files []modellint.File, jobTypes config.JobTypes, policies *policy.Set) text.Findings {
	o := modellint.Options{Policies: policies, JobTypes: map[string]string{}}
	for _, t := range jobTypes {
		o.JobTypes[t.Type] = t.Policy
	}
	for _, m := range bpmn.Models() {
		o.Known = append(o.Known, modellint.File{Name: m.Name, Content: m.Content})
	}
	return modellint.Lint(files, o)
}
