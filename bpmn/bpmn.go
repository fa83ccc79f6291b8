// Package bpmn carries the models that this worker is made for and the forms of their user tasks, so that the
// binary can deploy them. Open the .bpmn and .form files in Camunda Modeler; docs/model.md describes how to
// use them.
package bpmn

import "embed"

// Model is one file as it is deployed.
type Model struct {
	// Name is the file's name without a folder. The broker recognizes the kind by its ending.
	Name string
	// Content is the file, byte for byte.
	Content []byte
}

//go:embed submission-retry.bpmn sub-06.bpmn review-claim.form correct-data.form
var files embed.FS

// Models returns the bundled models in the order in which they must reach a broker: SubmissionRetryProcess
// before SUB_06, which calls it. The contents are the caller's own copies.
func Models() []Model { return read("submission-retry.bpmn", "sub-06.bpmn") }

// Resources returns the bundled models and the forms of their user tasks, in the order in which they must
// reach a broker. The contents are the caller's own copies.
func Resources() []Model { return append(Models(), read("review-claim.form", "correct-data.form")...) }

func read(names ...string) (all []Model) {
	for _, name := range names {
		content, _ := files.ReadFile(name) // each is embedded
		all = append(all, Model{name, content})
	}
	return all
}
