// Package bpmn carries the models that this worker is made for, so that the binary can deploy them. Open the .bpmn
// files in Camunda Modeler; docs/model.md says how to use them.
package bpmn

import _ "embed" // for the two models

// Model is one BPMN file as it is deployed.
type Model struct {
	// Name is the file's name without a folder. The broker recognizes the kind by its ending.
	Name string
	// ProcessID is the id of its process.
	ProcessID string
	// Content is the file, byte for byte.
	Content []byte
}

//go:embed submission-retry.bpmn
var submissionRetry string

//go:embed sub-06.bpmn
var sub06 string

// Models returns the bundled models in the order in which they must reach a broker: SubmissionRetryProcess before
// SUB_06, which calls it. The contents are the caller's own copies.
func Models() []Model {
	return []Model{
		{Name: "submission-retry.bpmn", ProcessID: "SubmissionRetryProcess", Content: []byte(submissionRetry)},
		{Name: "sub-06.bpmn", ProcessID: "SUB_06", Content: []byte(sub06)},
	}
}
