package policy

import (
	"cmp"
	_ "embed" // the known texts
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/retry"
)

// knownTexts are error texts of insurers, hospital systems, programs and proxies, one a line: some for each rule of tiss, and
// some that it does not know. All data in them is invented.
//
//go:embed known.txt
var knownTexts string

// known are the known texts one by one. They have \n and \r for the ends of their own lines.
var known = sync.OnceValue(func() []string {
	all := strings.Split(strings.TrimSpace(knownTexts), "\n")
	for i := range all {
		all[i] = strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(all[i])
	}
	return all
})

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
	changed, severity := 0, SevereInformation
	for _, text := range known() {
		before, now := l.e.parent.policy.Classify(text), l.p.Classify(text)
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
	all := len(known())
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
	found, all := 0, len(known())
	m := compiled(r.Condition)
	for _, text := range known() {
		t := evidence.Read(text)
		if _, matches := m.Match(t); matches {
			found++
		}
		t.Free()
	}
	if found > all/5 {
		l.warn(r, "known-texts", "id", fmt.Sprintf("it holds of %d of %d known texts: each of them would have to be asked about", found, all), "write more of the text")
	}
}
