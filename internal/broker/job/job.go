// Package job is the vocabulary that the broker's side and the rule's side share: a [Job] as it was activated
// and the one [Answer] it gets. It knows neither gRPC nor claims, so the job loop can be read without the
// rule and the rule's handler can be tested without a broker.
package job

import (
	"context"
	"time"
)

// Job is one activated job, as far as a handler needs it. Its JSON is that of the REST API, without the two
// documents.
type Job struct {
	// Key identifies the job at the broker. Keys start again when a broker's data is wiped.
	Key int64 `json:"jobKey,string"`
	// ProcessInstanceKey identifies the process instance that waits for the job.
	ProcessInstanceKey int64 `json:"processInstanceKey,string"`
	// ProcessID is the BPMN process id, ElementID the id of the service task in it.
	ProcessID string `json:"processDefinitionId"`
	ElementID string `json:"elementId"`
	// Retries is the number of retries the job has left at the broker. It is not the retry count of the
	// claim.
	Retries int32 `json:"retries"`
	// Headers is the JSON object of the task headers, static texts of the model; empty counts as none.
	Headers string `json:"-"`
	// Variables is the JSON object of the fetched variables, as the gateway sent it.
	Variables string `json:"-"`
	// Deadline is when the lock of the job ends by the broker's clock, in milliseconds of Unix time.
	Deadline int64 `json:"deadline"`
	// Received is when the job was received.
	Received time.Time `json:"-"`
}

// Handler turns a batch of jobs into as many answers, in the same order.
//
// It gets a whole batch so that it can record all its decisions in one transaction. The context ends when the
// jobs' lock is about to run out; a handler that returns later is treated as hung. A handler may be given the
// same job again (a redelivery, or the rest of a batch in which another job panicked) and must answer it
// alike.
type Handler func(ctx context.Context, jobs []Job) []Answer

// Kind is the command with which a job is answered, as logs and metrics name it.
type Kind string

// The kinds of answer. The zero value is none of them: a client refuses it, so that a forgotten answer is
// noticed.
const (
	KindComplete   Kind = "complete"
	KindThrowError Kind = "throw_error"
	KindFail       Kind = "fail"
	KindRelease    Kind = "release"
)

// Answer is the answer to a job. It is made by the constructors below, one for each outcome. The zero value
// is none.
type Answer struct {
	// Kind is the command.
	Kind Kind
	// Retries is the number of retries that a failed or a released job keeps.
	Retries int32
	// Code is the BPMN error code of a thrown error.
	Code string
	// Message is the text that a thrown error, a failed job or a released job carries.
	Message string
	// Variables is the JSON object that a completed job or a thrown error carries; it may be empty.
	Variables string
}

// Result is the result of an answer, as far as it is known, as metrics name it.
type Result string

// The results of an answer. The zero value is none of them.
const (
	// Accepted: the broker has the answer.
	Accepted Result = "accepted"
	// NotFound: the broker did not know the job any more when the answer was sent for the first time. Another
	// worker has answered it, or its process instance was cancelled.
	NotFound Result = "not_found"
	// Unknown: the job may come again, and be answered then.
	Unknown Result = "unknown"
)

// Complete finishes the job; variables is a JSON object that becomes process variables.
func Complete(variables string) Answer { return Answer{Kind: KindComplete, Variables: variables} }

// ThrowError throws the BPMN error with this code; variables is a JSON object that the catching event sees.
func ThrowError(code, message, variables string) Answer {
	return Answer{Kind: KindThrowError, Code: code, Message: message, Variables: variables}
}

// Incident fails the job with no retries left, so that the broker raises an incident with this message.
func Incident(message string) Answer { return Fail(0, message) }

// Fail fails the job and leaves it this many retries; with none left the broker raises an incident.
func Fail(retries int32, message string) Answer {
	return Answer{Kind: KindFail, Retries: max(retries, 0), Message: message}
}

// Release releases the job with its retries unchanged; the broker keeps the reason in its records.
func (j *Job) Release(reason string) Answer {
	return Answer{Kind: KindRelease, Retries: j.Retries, Message: reason}
}
