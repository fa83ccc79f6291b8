// Package bpmn carries the models that this worker is made for and the forms of their user tasks, so that the
// binary can deploy them. Open the .bpmn and .form files in Camunda Modeler; docs/model.md describes how to
// use them.
package bpmn

import _ "embed" // for the models and forms

// Model is one file as it is deployed.
type Model struct {
	// Name is the file's name without a folder. The broker recognizes the kind by its ending.
	Name string
	// Content is the file, byte for byte.
	Content []byte
}

//go:embed submission-retry.bpmn
var submissionRetry string

//go:embed sub-06.bpmn
var sub06 string

//go:embed review-claim.form
var reviewClaim string

//go:embed correct-data.form
var correctData string

// Models returns the bundled models in the order in which they must reach a broker: SubmissionRetryProcess
// before SUB_06, which calls it. The contents are the caller's own copies.
func Models() []Model {
	return []Model{
		{Name: "submission-retry.bpmn", Content: []byte(submissionRetry)},
		{Name: "sub-06.bpmn", Content: []byte(sub06)},
	}
}

// Resources returns the bundled models and the forms of their user tasks, in the order in which they must
// reach a broker. The contents are the caller's own copies.
func Resources() []Model {
	return append(Models(),
		Model{Name: "review-claim.form", Content: []byte(reviewClaim)},
		Model{Name: "correct-data.form", Content: []byte(correctData)},
	)
}
