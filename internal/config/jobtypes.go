package config

import (
	"errors"
	"strings"
)

// JobType is a job type that is worked, with the policy of tasks that name none.
type JobType struct{ Type, Policy string }

// JobTypes are the job types that are worked, in their order; at least one.
type JobTypes []JobType

// outcomeJobType is always worked, and by no policy.
const outcomeJobType = "record-retry-outcome"

// Set reads TYPE=POLICY, several separated by commas; envconfig calls it.
func (t *JobTypes) Set(value string) error {
	var read JobTypes
	for one := range strings.SplitSeq(value, ",") {
		name, policy, found := strings.Cut(strings.TrimSpace(one), "=")
		name, policy = strings.TrimSpace(name), strings.TrimSpace(policy)
		if !found || name == "" || policy == "" || len(name) > 255 || !printable(name) || name == outcomeJobType {
			return errors.New("no TYPE=POLICY, or a type that has no policy")
		}
		for _, other := range read {
			if other.Type == name {
				return errors.New("a type stands twice")
			}
		}
		read = append(read, JobType{name, policy})
	}
	*t = read
	return nil
}

// String is the notation that Set reads.
func (t JobTypes) String() string {
	texts := make([]string, len(t))
	for i, one := range t {
		texts[i] = one.Type + "=" + one.Policy
	}
	return strings.Join(texts, ",")
}
