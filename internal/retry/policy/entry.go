package policy

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/retry"
)

//go:generate go test . -run TestTheSchema -update

// entry is a policy of a set, and where it is written.
type entry struct {
	// Settings are what the file states over what the policy inherits, and defaults; but rules are the
	// policy's own, without the parent's.
	retry.Settings
	// origin is the file that the policy is written in; or where it comes from without one: built-in, or
	// settings. node is its YAML there.
	origin string
	node   yaml.Node
	// misread: something in the YAML has not the form that it must have.
	misread bool
	// parent is the policy that this one extends, or the defaults.
	parent *entry
	// policy is nil if the entry has a fault; its file is refused then.
	policy *retry.Policy
}

// defaults has every default but that of min, which is one unit of the precision. There is none of base, max
// and maxRetries. A jitter below 0 means that none was stated.
var defaults = entry{
	Settings: retry.Settings{
		MaxRetries:   -1,
		Jitter:       -1,
		Factor:       2,
		Precision:    "minute",
		TimeZone:     "America/Sao_Paulo", // the hospital's (RN-BIL-005)
		IDs:          retry.ClaimIDs,
		Unknown:      retry.Unknown,
		OnEmptyError: retry.RejectEmptyError,
	},
	policy: &retry.Policy{},
}

// heir returns an entry that inherits all from this one, and states nothing yet.
func (e *entry) heir(origin string, node yaml.Node) *entry {
	s := e.Settings
	s.Name, s.Description, s.Source, s.Extends = "", "", "", ""
	s.Rules, s.InDoubt = nil, nil
	return &entry{Settings: s, origin: origin, node: node, parent: e}
}

// find returns the YAML of a setting, or of the rule or the policy that it is missing in.
func (e *entry) find(rule, setting string) (value yaml.Node, stated bool) {
	in := e.node
	if rule != "" || setting == "id" {
		var own struct {
			Rules   []yaml.Node
			InDoubt []yaml.Node `yaml:"inDoubt"`
		}
		_ = e.node.Decode(&own)
		for _, item := range slices.Concat(own.Rules, own.InDoubt) {
			var head struct{ ID string }
			if _ = item.Decode(&head); head.ID == rule {
				in = item
			}
		}
	}
	var fields map[string]yaml.Node
	_ = in.Decode(&fields)
	if value, stated := fields[setting]; stated {
		return value, true
	}
	return in, false
}
