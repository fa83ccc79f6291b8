// Package failpoint names the points at which a test kills, stops or breaks the worker. In an ordinary build [At] does
// nothing and costs nothing, and [Now] is time.Now; only a build with the tag `faults` reads ANALYZE_RETRY_FAILPOINTS and does
// what it says.
package failpoint

// The points, in the order of a job's way.
const (
	// Validated: the input of a job was read and found valid or not.
	Validated = "validated"
	// Decided: the rule has answered, nothing is stored yet.
	Decided = "decided"
	// Stored: the decision is in the store, synced; the broker knows nothing yet.
	Stored = "stored"
	// Answered: the broker has taken the answer; that is not marked in the store yet.
	Answered = "answered"
	// Publishing: an event is about to be sent to the queue.
	Publishing = "publishing"
	// Published: the queue has acknowledged an event; that is not marked in the store yet.
	Published = "published"
)
