// Package bpmn carries the models that this worker is made for, the forms of their user tasks and the element
// templates, so that the binary can deploy them, or write them where a person draws models of their own. Open
// the .bpmn and .form files in Camunda Modeler; docs/model.md describes how to use them.
package bpmn

import (
	"embed"
	"io/fs"
	"regexp"
	"slices"
)

// Model is one file as it is deployed.
type Model struct {
	// Name is the file's name without a folder. The broker recognizes the kind by its ending.
	Name string
	// Content is the file, byte for byte.
	Content []byte
}

//go:embed submission-retry.bpmn sub-06.bpmn review-claim.form correct-data.form .camunda/element-templates
var files embed.FS

// Files are all of them, as they lie in a folder in which Camunda Modeler finds the templates.
func Files() fs.FS { return files }

// Models returns the bundled models in the order in which they must reach a broker: SubmissionRetryProcess
// before SUB_06, which calls it. The contents are the caller's own copies.
func Models() []Model { return read("submission-retry.bpmn", "sub-06.bpmn") }

// Resources returns the bundled models and the forms of their user tasks, in the order in which they must
// reach a broker. The contents are the caller's own copies.
func Resources() []Model { return append(Models(), read("review-claim.form", "correct-data.form")...) }

var taskType = regexp.MustCompile(`<zeebe:taskDefinition type="([^"]+)"`)

// JobTypes are the job types of the tasks in the bundled models, sorted: those of this worker, and those that
// workers of the hospital must take.
func JobTypes() (types []string) {
	for _, m := range Models() {
		for _, found := range taskType.FindAllSubmatch(m.Content, -1) {
			types = append(types, string(found[1]))
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

func read(names ...string) (all []Model) {
	for _, name := range names {
		content, _ := files.ReadFile(name) // each is embedded
		all = append(all, Model{name, content})
	}
	return all
}
