package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/spelling"
)

// resolver makes policies of the entries of one file. An entry comes after the one that it extends.
type resolver struct {
	*reader
	// above are the policies that the file's may extend or replace, own are the file's.
	above, own map[string]*Entry
}

// resolve gives each sound entry its policy. It notes all faults in the reader.
func resolve(r *reader, entries []*Entry, above map[string]*Entry) {
	v := &resolver{r, above, map[string]*Entry{}}
	for _, e := range entries {
		if first, twice := v.own[e.Name]; twice && e.Name != "" {
			line, _ := e.states("name")
			firstLine, _ := first.states("name")
			v.note(e, "", line, fmt.Sprintf("the name is taken: another policy has it in line %d", firstLine))
			continue
		}
		v.own[e.Name] = e
	}
	for _, e := range entries {
		v.visit(e, nil)
	}
}

// visit makes the policy of an entry, which the children extend, and reports whether it is sound.
func (v *resolver) visit(e *Entry, children []*Entry) bool {
	if e.visited {
		return e.policy != nil
	}
	e.visited = true
	before := len(v.faults)
	v.sameIDs(e)
	whole := v.extend(e, children) && !v.broken(e.path)
	if v.tooManyRules(e) {
		return false
	}
	checked := e.completed()
	if !whole { // the numbers cannot be judged, but the rules can
		checked.parent, checked.Rules, checked.InDoubt = nil, v.faultless(e.Rules), v.faultless(e.InDoubt)
	}
	p, faults := checked.make()
	for _, fault := range faults {
		if whole || fault.Rule != "" {
			v.setting(e, fault)
		}
	}
	if whole && len(v.faults) == before {
		e.policy = p
	}
	return e.policy != nil
}

// extend lets the entry inherit from its parent. It reports whether the result can be judged.
func (v *resolver) extend(e *Entry, children []*Entry) bool {
	if e.Extends == "" {
		return true
	}
	line, _ := e.states("extends")
	parent := v.own[e.Extends]
	if parent == nil || e.Extends == e.Name { // a policy may extend the one that it replaces
		parent = v.above[e.Extends]
	}
	if parent == nil {
		if !v.broken(e.path + "/extends") {
			v.note(e, "", line, v.unknownParent(e))
		}
		return false
	}
	children = append(slices.Clip(children), e)
	if i := slices.Index(children, parent); i >= 0 {
		var circle strings.Builder
		for _, child := range children[i:] {
			circle.WriteString(child.Name + " -> ")
		}
		v.note(e, "", line, "extends goes round in a circle: "+circle.String()+parent.Name)
		return false
	}
	if v.own[parent.Name] == parent && !v.visit(parent, children) {
		return false
	}
	if e.above = parent.above + 1; e.above > maxAbove {
		v.note(e, "", line, fmt.Sprintf("extends has %d policies above this one but may have at most %d: extend one that is nearer to the first", e.above, maxAbove))
		return false
	}
	e.parent = parent
	e.inherit(parent)
	return true
}

// tooManyRules notes if the entry has too many rules with those that it inherits.
func (v *resolver) tooManyRules(e *Entry) bool {
	number, inherited := len(e.Rules)+len(e.InDoubt), 0
	if e.parent != nil {
		inherited = len(e.parent.policy.Rules) + len(e.parent.policy.InDoubt)
	}
	if number+inherited <= maxRules {
		return false
	}
	line, stated := e.states("rules")
	if !stated {
		line, _ = e.states("inDoubt")
	}
	v.note(e, "", line, fmt.Sprintf("the policy has %d rules but may have at most %d: rules and inDoubt together, %d of them inherited", number+inherited, maxRules, inherited))
	return true
}

func (v *resolver) unknownParent(e *Entry) string {
	if e.Extends == e.Name {
		return "the policy extends itself, and there is no built-in policy of that name"
	}
	known := maps.Clone(v.above)
	maps.Copy(known, v.own)
	delete(known, e.Name)
	delete(known, "")
	names := slices.Sorted(maps.Keys(known))
	if similar := spelling.Nearest(e.Extends, names); similar != "" {
		return fmt.Sprintf("extends is %q, which is no policy: did you mean %s?", short(e.Extends), similar)
	}
	return fmt.Sprintf("extends is %q, which is no policy: known are %s", short(e.Extends), enumerate(names, 30))
}

// sameIDs notes an id that two of the entry's own rules have. An id of the parent's is no fault: the own rule is asked first.
func (v *resolver) sameIDs(e *Entry) {
	lines := map[string]int{}
	for _, r := range slices.Concat(e.Rules, e.InDoubt) {
		_, line := follow(r.node, []string{"id"})
		if first, twice := lines[r.ID]; twice && r.ID != "" {
			v.note(e, r.ID, line, fmt.Sprintf("the id is taken: another rule has it in line %d", first))
			continue
		}
		lines[r.ID] = line
	}
}

// related are the settings that a setting is compared with.
var related = map[string][]string{
	"max": {"base", "min", "precision"}, "min": {"precision", "max"},
}

// setting notes a fault that [retry.New] found, at the line of the setting. The fault of an inherited setting is noted at the
// setting that it contradicts, else where it is inherited.
func (v *resolver) setting(e *Entry, fault *retry.SettingError) {
	problem := fault.Setting + " " + fault.Problem.String()
	if fault.Rule != "" {
		for _, r := range slices.Concat(e.Rules, e.InDoubt) {
			if r.ID == fault.Rule && r.node != nil {
				_, line := follow(r.node, []string{fault.Setting})
				v.note(e, fault.Rule, line, problem)
				return
			}
		}
	}
	line, stated := e.states(fault.Setting)
	if !stated {
		for _, other := range append(slices.Clip(related[fault.Setting]), "extends", "name") {
			if at, found := e.states(other); found {
				line = at
				break
			}
		}
		if e.Extends != "" {
			problem += fmt.Sprintf(" (%s is inherited from %s)", fault.Setting, e.Extends)
		}
	}
	v.note(e, "", line, problem)
}

func (v *resolver) note(e *Entry, rule string, line int, problem string) {
	v.faults = append(v.faults, Fault{File: v.file, Line: line, Policy: short(e.Name), Rule: rule, Problem: problem})
}

// faultless returns the rules whose form is right.
func (v *resolver) faultless(rules []Rule) (kept []Rule) {
	for _, r := range rules {
		if !v.broken(r.path) {
			kept = append(kept, r)
		}
	}
	return kept
}
