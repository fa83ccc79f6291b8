package retry

// Ignored says which optional variables came from another system and could not be read, and why. The decision is the one
// that would be taken without them. The zero value is none.
type Ignored struct {
	RetryAfter, LastSubmissionTime IgnoredReason
}

// The names of the variables that are ignored where they cannot be read.
const (
	VariableRetryAfter         = "retryAfter"
	VariableLastSubmissionTime = "lastSubmissionTime"
)

// IgnoredVariable is a variable that was ignored, and why.
type IgnoredVariable struct {
	Variable string        `json:"variable"`
	Reason   IgnoredReason `json:"reason"`
}

// All returns the ignored variables, always in the same order.
func (i Ignored) All() (all []IgnoredVariable) {
	for _, v := range []IgnoredVariable{{VariableLastSubmissionTime, i.LastSubmissionTime}, {VariableRetryAfter, i.RetryAfter}} {
		if v.Reason != "" {
			all = append(all, v)
		}
	}
	return all
}

// IgnoredReason says why a variable was ignored. It never repeats the value.
type IgnoredReason string

// The reasons for which a variable is ignored.
const (
	// IgnoredType: the value is neither a text nor a number.
	IgnoredType IgnoredReason = "TYPE"
	// IgnoredUnreadable: the value has none of the known forms.
	IgnoredUnreadable IgnoredReason = "UNREADABLE"
	// IgnoredYear: the year is before 2000 or, of a last submission, after 2099.
	IgnoredYear IgnoredReason = "YEAR"
)
