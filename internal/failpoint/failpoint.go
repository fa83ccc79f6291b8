// Package failpoint names the points at which a test kills, stops or breaks the worker. In an ordinary build [At] does
// nothing and [Now] is time.Now. Only a build with the tag failpoints reads ANALYZE_RETRY_FAILPOINTS and acts on it.
package failpoint

// The points, in the order in which a job passes them.
const (
	// Validated: the input of a job was read and found valid or not.
	Validated = "validated"
	// Decided: the rule has decided, nothing is stored yet.
	Decided = "decided"
	// Stored: the decision is in the store, synced; the broker has no answer yet.
	Stored = "stored"
	// Answered: the broker has accepted the answer; that is not marked in the store yet.
	Answered = "answered"
	// Publishing: an event is about to be sent to the queue.
	Publishing = "publishing"
	// Published: the queue has acknowledged an event; that is not marked in the store yet.
	Published = "published"
)
