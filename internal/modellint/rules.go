package modellint

// The ids of the rules.
const (
	ruleCountHidden     = "count-hidden"
	ruleErrorNotCaught  = "error-not-caught"
	ruleErrorVariables  = "error-variables-not-mapped"
	ruleStale           = "stale-variables"
	ruleTimer           = "timer-duration"
	ruleHeader          = "header-unknown"
	rulePolicy          = "policy-unknown"
	ruleSubmissionError = "submission-error-not-mapped"
	ruleOutcome         = "outcome-not-recorded"
	ruleRetries         = "retries-unset"
	ruleLoop            = "loop-without-analysis"
	ruleUserTask        = "user-task-kind"
	ruleUnreadable      = "unreadable"
)
