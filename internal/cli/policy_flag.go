package cli

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

// policyHelp is the help of a flag that takes a policy.
const policyHelp = "policy `NAME`, or FILE[:NAME]"

var policyName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// policyByName returns the policy that a flag names: NAME is a built-in one or one of RETRY_POLICIES_FILE, FILE the only
// policy of another policies file, FILE:NAME one of several. A file is recognized by what names cannot hold, such as
// a dot or a slash.
func policyByName(ctx context.Context, named string) (*retry.Policy, error) {
	file, name := "", named
	if !policyName.MatchString(named) {
		file, name = named, ""
		if i := strings.LastIndexByte(named, ':'); i >= 0 {
			file, name = named[:i], named[i+1:]
		}
	}
	all, err := knownPolicies(ctx, file)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return onlyPolicy(file, all)
	}
	p, known := all.Get(name)
	if !known {
		return nil, usageError{fmt.Errorf("there is no policy %q; there are %s. A policy of another file is named FILE:NAME",
			name, strings.Join(all.Names(), ", "))}
	}
	return p, nil
}

// onlyPolicy returns the one policy that a file adds to the built-in ones or puts in the place of one.
func onlyPolicy(file string, known *policy.Set) (*retry.Policy, error) {
	var own []*retry.Policy
	var names []string
	for p := range known.All() {
		if builtIn, _ := policy.BuiltIns().Get(p.Name); p != builtIn {
			own = append(own, p)
			names = append(names, file+":"+p.Name)
		}
	}
	if len(own) != 1 {
		return nil, usageError{fmt.Errorf("%s has %d policies; name one of them: %s", file, len(own), strings.Join(names, ", "))}
	}
	return own[0], nil
}
