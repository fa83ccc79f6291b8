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

// Rule describes what findings of one kind have in common.
type Rule struct {
	ID string
	// Severity is that of most of its findings.
	Severity Severity
	// Title is a few words, Text what happens at run time.
	Title, Text string
}

// Rules are the rules, in the order in which a page lists them.
func Rules() []Rule {
	return []Rule{
		{
			ruleCountHidden, SevereError, "A mapping hides the count or another result of the analysis",
			"With an output mapping, Zeebe returns only the variables that are mapped. With an input mapping it writes a result into the " +
				"task's own variable of that name, where it is lost. The process keeps the old count. The worker then takes the audit " +
				"trail's count and warns; a gateway or timer that reads a hidden variable reads an old value, or null.",
		},
		{
			ruleErrorNotCaught, SevereError, "MAX_RETRIES_EXCEEDED or PERMANENT_ERROR is not caught",
			"The worker throws the error, nothing catches it, and the claim stops as an incident of the analysis task instead of reaching a person.",
		},
		{
			ruleErrorVariables, SevereError, "The variables of an error are not mapped",
			"Zeebe keeps an error's variables in the event that catches it. Without output mappings there, the next tasks see those of the " +
				"analysis before: the older count, reason and error text.",
		},
		{
			ruleStale, SevereWarning, "A variable of an earlier try or decision is read again",
			"A variable that is not cleared keeps its value. A failure without a text of its own is then decided by the text before, and a person's task " +
				"is answered by the decision before.",
		},
		{
			ruleTimer, SevereError, "The timer does not wait as decided",
			"A timer whose expression is no duration is an incident. One with the wrong unit or variable waits for another time than the " +
				"decision states.",
		},
		{
			ruleHeader, SevereError, "A task header is misspelt, or its value is invalid",
			"The worker refuses a header that is most likely a misspelt one of its own, and an invalid value: each job is an incident. " +
				"Other unknown headers change nothing.",
		},
		{
			rulePolicy, SevereError, "A policy or job type that the worker does not know",
			"A task that names an unknown policy is an incident. Jobs of a type that the worker does not work wait for ever, without an incident.",
		},
		{
			ruleSubmissionError, SevereError, "submissionError does not reach the analysis",
			"The error text exists only in the event that catches the submission's error. Without an output mapping there, the analysis " +
				"gets none: an incident (\"submissionError is missing\"), or from the second failure on the text of the failure before.",
		},
		{
			ruleOutcome, SevereWarning, "A round ends without a record-retry-outcome task",
			"The process works, but the audit trail does not know how the claim ended: it stays open in `worker claims`, and the success rate and the " +
				"other KPIs do not count it.",
		},
		{
			ruleRetries, SevereInformation, "The job retries of the worker's task are unset or unusable",
			"Without retries Zeebe gives a job 3, which is enough: the worker does not count them down. With 0, a job that the worker " +
				"releases, such as while its store is unavailable, is an incident and does not come again. A value that is no number is " +
				"refused at the deployment.",
		},
		{
			ruleLoop, SevereWarning, "A loop tries again without this worker",
			"Nothing decides whether a retry helps, nothing bounds or records the tries, and a permanent error is sent again and again.",
		},
		{
			ruleUserTask, SevereWarning, "A user task is not one of Camunda's kind",
			"A job-based user task is not shown in Tasklist of Camunda 8.8 and later: the claim waits and no person sees it.",
		},
		{ruleUnreadable, SevereError, "The file is no BPMN model for Camunda 8", "Nothing of it is checked."},
	}
}
