package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/spelling"
)

// resolver makes policies of the entries of one file, in the order in which they extend one another.
type resolver struct {
	*reader
	// above are the policies that the file's may extend or replace.
	above map[string]*Entry
	own   map[string]*Entry
	// done are the entries that were looked at, with whether they are sound.
	done map[*Entry]bool
	made map[*Entry]*retry.Policy
}

// resolve returns the policies of the entries that are sound. It notes all faults in the reader.
func resolve(r *reader, entries []*Entry, above map[string]*Entry) map[*Entry]*retry.Policy {
	v := &resolver{reader: r, above: above, own: map[string]*Entry{}, done: map[*Entry]bool{}, made: map[*Entry]*retry.Policy{}}
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
	return v.made
}

// visit makes one policy, after those that it extends. It reports whether it is sound.
func (v *resolver) visit(e *Entry, children []*Entry) bool {
	if sound, done := v.done[e]; done {
		return sound
	}
	v.done[e] = false
	before := len(v.faults)
	v.sameIDs(e)
	whole := v.takeOver(e, children) && !v.broken(e.path)
	checked := e.completed()
	if !whole { // the numbers cannot be judged, but the rules can
		checked.Rules, checked.InDoubt = v.faultless(e.Rules), v.faultless(e.InDoubt)
	}
	p, faults := checked.policy()
	for _, fault := range faults {
		if whole || fault.Rule != "" {
			v.setting(e, fault)
		}
	}
	if whole && len(v.faults) == before {
		v.made[e], v.done[e] = p, true
	}
	return v.done[e]
}

// takeOver extends the entry's parent. It reports whether there is nothing in the way of judging the result.
func (v *resolver) takeOver(e *Entry, children []*Entry) bool {
	if e.Extends == "" {
		return true
	}
	line, _ := e.states("extends")
	parent := v.own[e.Extends]
	if e.Extends == e.Name {
		parent = nil // the one that it replaces
	}
	if parent == nil {
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
		v.note(e, "", line, "extends goes round in a circle: "+circle(children[i:]))
		return false
	}
	if parent.file == e.file && v.own[parent.Name] == parent && !v.visit(parent, children) {
		return false
	}
	e.extend(parent)
	return true
}

func (v *resolver) unknownParent(e *Entry) string {
	if e.Extends == e.Name {
		return "the policy extends itself, and there is no built-in policy of that name"
	}
	names := slices.Sorted(maps.Keys(v.above))
	for name := range v.own {
		names = append(names, name)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == e.Name || name == "" })
	if similar := spelling.Nearest(e.Extends, names); similar != "" {
		return fmt.Sprintf("extends %q, which is no policy: did you mean %s?", short(e.Extends), similar)
	}
	return fmt.Sprintf("extends %q, which is no policy: there are %s", short(e.Extends), strings.Join(names, ", "))
}

func circle(entries []*Entry) string {
	names := make([]string, 0, len(entries)+1)
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return strings.Join(append(names, entries[0].Name), " -> ")
}

// sameIDs notes rules of the entry's own lists that have one id. An id that the parent has too is no fault: the own rule
// is asked first.
func (v *resolver) sameIDs(e *Entry) {
	lines := map[string]int{}
	for _, rules := range [][]Rule{e.Rules, e.InDoubt} {
		for i := range rules {
			r := &rules[i]
			_, line := follow(r.node, []string{"id"})
			if first, twice := lines[r.ID]; twice && r.ID != "" {
				v.note(e, r.ID, line, fmt.Sprintf("the id is taken: another rule has it in line %d", first))
				continue
			}
			lines[r.ID] = line
		}
	}
}

// related are the settings that a setting is held against.
var related = map[string][]string{
	"max": {"base", "min", "precision"}, "min": {"precision", "max"},
}

// setting notes what the rule itself finds wrong, where it is written. Of what was taken over that is the setting that
// does not go with it, else where it is taken over.
func (v *resolver) setting(e *Entry, fault *retry.SettingError) {
	problem := fault.Setting + " " + fault.Problem
	if fault.Rule != "" {
		for _, rules := range [][]Rule{e.Rules, e.InDoubt} {
			for i := range rules {
				if rules[i].ID == fault.Rule && rules[i].node != nil {
					_, line := follow(rules[i].node, []string{fault.Setting})
					v.note(e, fault.Rule, line, problem)
					return
				}
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
			problem += fmt.Sprintf(" (%s is taken over from %s)", fault.Setting, e.Extends)
		}
	}
	v.note(e, "", line, problem)
}

func (v *resolver) note(e *Entry, rule string, line int, problem string) {
	v.faults = append(v.faults, Fault{File: v.file, Line: line, Policy: short(e.Name), Rule: rule, Problem: problem})
}

// broken reports whether the form of what stands at a path is wrong.
func (v *resolver) broken(path string) bool {
	for _, faulty := range v.paths {
		if faulty == path || strings.HasPrefix(faulty, path+"/") {
			return true
		}
	}
	return false
}

// faultless are the rules without those whose form is wrong already.
func (v *resolver) faultless(rules []Rule) (kept []Rule) {
	for _, r := range rules {
		if r.file == v.file && !v.broken(r.path) {
			kept = append(kept, r)
		}
	}
	return kept
}
