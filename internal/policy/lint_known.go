package policy

import (
	"cmp"
	_ "embed" // the known texts
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/retry"
)

// knownTexts are error texts of insurers, hospital systems, programs and proxies, one a line: some for each rule of tiss, and
// some that it does not know. All data in them is invented.
//
//go:embed known.txt
var knownTexts string

// known returns the known texts.
func known() iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(knownTexts) {
			if !yield(strings.ReplaceAll(strings.TrimSpace(line), `\n`, "\n")) {
				return
			}
		}
	}
}

// change is another class that a known text gets.
type change struct {
	from, to retry.Class
	rule     string
}

// changes finds known texts that get another class than by the policy that is extended. A few that were unknown before are what
// rules of one's own are for.
func (l *linter) changes() {
	if l.e.parent == nil {
		return
	}
	number, example := map[change]int{}, map[change]string{}
	all, changed, severity := 0, 0, SevereInformation
	for text := range known() {
		before, now := l.e.parent.policy.Classify(text), l.p.Classify(text)
		all++
		if before.Class == now.Class {
			continue
		}
		c := change{before.Class, now.Class, now.RuleID}
		if changed++; before.Class != retry.Unknown {
			severity = SevereWarning
		}
		if number[c]++; number[c] == 1 {
			example[c] = text
		}
	}
	if changed == 0 {
		return
	}
	if changed > all/10 {
		severity = SevereWarning
	}
	var changes []string
	mostFirst := func(a, b change) int { return cmp.Or(number[b]-number[a], strings.Compare(example[a], example[b])) }
	for _, c := range slices.SortedFunc(maps.Keys(number), mostFirst) {
		changes = append(changes, fmt.Sprintf("%d %s to %s by %s, such as %s", number[c], c.from, c.to, c.rule, quoted(example[c])))
	}
	l.add(severity, "known-texts", "rules", fmt.Sprintf("of %d known texts %d change class: %s", all, changed, strings.Join(changes, "; ")),
		"if that is not meant, write more of the text in contains, or narrow the rule with unless")
}

// doubts finds a rule of inDoubt that holds of many known texts.
func (l *linter) doubts(r *retry.Rule) {
	all, found := 0, 0
	m := compiled(r.Condition)
	for text := range known() {
		t := evidence.Read(text)
		if _, matches := m.Match(t); matches {
			found++
		}
		t.Free()
		all++
	}
	if found > all/5 {
		l.warn(r, "known-texts", "id", fmt.Sprintf("it holds of %d of %d known texts: each of them would have to be asked about", found, all), "write more of the text")
	}
}
